use std::sync::atomic::AtomicUsize;

use rayon::prelude::*;

use super::*;

const AHEAD: Ahead<(usize, usize)> = Ahead {
    waiting: 4,
    inputs: usize::MAX,
    weigh: |_| 1,
};

fn on_threads<R: Send>(threads: usize, run: impl FnOnce() -> R + Send) -> R {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
    pool.build().unwrap().install(run)
}

/// Inputs of 0, 1, 2, … 12 items; an item is the number of its input, and its own.
fn open(input: usize) -> impl Iterator<Item = (usize, usize)> + Send {
    (0..input).map(move |item| (input, item))
}

#[test]
fn results_come_in_order() {
    let expected: Vec<_> = (0..13).flat_map(open).collect();
    for threads in [1, 2, 5] {
        for waiting in [0, 3, 100] {
            for inputs in [1, 2, usize::MAX] {
                let ahead = Ahead {
                    waiting,
                    inputs,
                    ..AHEAD
                };
                let mut results = Vec::new();
                let done = on_threads(threads, || {
                    let map = |item: (usize, usize)| {
                        // Other jobs of the pool, beside which rayon may begin another item.
                        let sum: usize = (0..2_000).into_par_iter().sum();
                        Ok::<_, ()>((item, sum))
                    };
                    map_in_order(13, ahead, open, map, |result| {
                        results.extend(result.map(|(item, _)| item));
                        Ok(())
                    })
                });
                assert_eq!((done, &results), (Ok(()), &expected));
            }
        }
    }
}

#[test]
fn a_thread_outside_of_the_pool_may_call() {
    let mut results = Vec::new();
    let done = map_in_order(13, AHEAD, open, Ok::<_, ()>, |result| {
        results.extend(result);
        Ok(())
    });
    assert_eq!(done, Ok(()));
    assert_eq!(results.len(), 12 * 13 / 2);
}

#[test]
fn threads_read_and_map_at_the_same_time() {
    for threads in [1, 3] {
        let (now, most) = (&AtomicUsize::new(0), &AtomicUsize::new(0));
        let work = move || {
            most.fetch_max(now.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
            thread::sleep(Duration::from_millis(2));
            now.fetch_sub(1, Ordering::SeqCst);
        };
        let open = |input| open(input).inspect(|_| work());
        let map = |_| {
            work();
            Ok::<_, ()>(())
        };
        on_threads(threads, || map_in_order(13, AHEAD, open, map, |_| Ok(()))).unwrap();
        assert_eq!(most.load(Ordering::SeqCst), threads);
    }
}

#[test]
fn the_first_error_in_order_wins() {
    for threads in [1, 4] {
        let map = |(input, item)| {
            // The earlier one comes later.
            match (input, item) {
                (5, 2) => {
                    thread::sleep(Duration::from_millis(20));
                    Err((5, 2))
                }
                (5, 3) | (6, 0) => Err((input, item)),
                _ => Ok(()),
            }
        };
        let mut passed_on = 0;
        let failed = on_threads(threads, || {
            map_in_order(13, AHEAD, open, map, |result| {
                passed_on += result.iter().count();
                Ok(())
            })
        });
        assert_eq!((failed, passed_on), (Err((5, 2)), 12));
    }
}

#[test]
fn few_results_wait_for_an_earlier_one() {
    let taken = &AtomicUsize::new(0);
    let map = |(input, _)| {
        taken.fetch_add(1, Ordering::SeqCst);
        if input == 1 {
            thread::sleep(Duration::from_millis(100));
            return Err(taken.load(Ordering::SeqCst));
        }
        Ok(())
    };
    let taken = on_threads(3, || map_in_order(1_000, AHEAD, open, map, |_| Ok(())));
    assert!(taken.unwrap_err() <= AHEAD.waiting + 3);
}

#[test]
fn all_threads_work_on_the_input_that_comes_next() {
    const THREADS: usize = 4;
    let (now, mapped, together) = (
        &AtomicUsize::new(0),
        &AtomicUsize::new(0),
        &AtomicUsize::new(0),
    );
    let open = |input| (0..60).map(move |item| (input, item));
    let map = |_| {
        together.fetch_add(now.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
        mapped.fetch_add(1, Ordering::SeqCst);
        thread::sleep(Duration::from_millis(1));
        now.fetch_sub(1, Ordering::SeqCst);
        Ok::<_, ()>(())
    };
    on_threads(THREADS, || map_in_order(10, AHEAD, open, map, |_| Ok(()))).unwrap();
    let of = |count: &AtomicUsize| count.load(Ordering::SeqCst) as f64;
    let mean = of(together) / of(mapped);
    assert!(mean > 0.6 * THREADS as f64, "{mean} threads work at a time");
}

#[test]
fn few_heavy_items_are_in_memory() {
    const WEIGHT: usize = 12;
    let ahead = Ahead {
        waiting: 40,
        weigh: |_| WEIGHT,
        ..AHEAD
    };
    for threads in [1, 4] {
        let (held, most) = (&AtomicUsize::new(0), &AtomicUsize::new(0));
        let open = |input| {
            open(input).inspect(|_| {
                most.fetch_max(held.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
            })
        };
        let mut passed_on = 0;
        let done = on_threads(threads, || {
            map_in_order(13, ahead, open, Ok::<_, ()>, |result| {
                // Long enough for all that may wait.
                thread::sleep(Duration::from_millis(1));
                let results = result.iter().count();
                held.fetch_sub(results, Ordering::SeqCst);
                passed_on += results;
                Ok(())
            })
        });
        assert_eq!((done, passed_on), (Ok(()), 12 * 13 / 2));
        // Beside what may wait: an item for each thread, whose weight the others did not know, the next one, which is
        // always taken, and the one that is passed on.
        let bound = (ahead.waiting + (1 + OWN) * threads) / WEIGHT + threads + 2;
        assert!(most.load(Ordering::SeqCst) <= bound, "{most:?}");
    }
}

#[test]
fn the_caller_can_stop_while_others_work() {
    let began = &AtomicUsize::new(0);
    let map = |_| {
        began.fetch_add(1, Ordering::SeqCst);
        thread::sleep(Duration::from_millis(50));
        Ok(())
    };
    let stopped = map_in_order(100, AHEAD, open, map, |result| match result {
        None => Err("stopped"),
        Some(()) => Ok(()),
    });
    assert_eq!(stopped, Err("stopped"));
    let threads = rayon::current_num_threads();
    assert!(began.load(Ordering::SeqCst) <= threads);
}

#[test]
fn work_beside_ends_with_the_first_error() {
    for threads in [1, 2] {
        let until_stopped = |is_stopped: &AtomicBool| {
            while !is_stopped.load(Ordering::Relaxed) {
                thread::sleep(Duration::from_millis(1));
            }
            Err("other")
        };
        let run = |main: Result<u32, &'static str>, look| {
            on_threads(threads, || beside(until_stopped, || main, || look))
        };
        assert_eq!(run(Err("main"), Ok(())), Err("main"));
        let done = on_threads(threads, || beside(|_| Ok::<_, ()>(()), || Ok(7), || Ok(())));
        assert_eq!(done, Ok(7));
        let failed = on_threads(threads, || beside(|_| Err("other"), || Ok(7), || Ok(())));
        assert_eq!(failed, Err("other"));
        if threads > 1 {
            assert_eq!(run(Ok(7), Err("look")), Err("look"));
        }
    }
}

#[test]
fn a_panic_reaches_the_caller() {
    let map = |item| match item {
        (7, 3) => panic!("as planned"),
        _ => Ok::<_, ()>(()),
    };
    let run = || on_threads(2, || map_in_order(13, AHEAD, open, map, |_| Ok(())));
    assert!(std::panic::catch_unwind(run).is_err());
}
