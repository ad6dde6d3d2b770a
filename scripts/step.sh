# Sourced by .ci/run and scripts/test.sh.

# Runs a step, and says how long it took.
step() {
    local name=$1 start=$SECONDS
    shift
    "$@"
    echo "step $name: $((SECONDS - start)) s"
}
