//! The report page in a real browser: labels do not overlap, are not cut off and are large enough, on a wide and on a
//! narrow screen.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use crate::contain_page;
use crate::dedup_page;
use crate::pairs_page;
use crate::passages_page;
use crate::support::made_up::{self, MadeUp};
use arrow_array::{ArrayRef, RecordBatch, StringArray};
use serde_json::Value;
use simgpu::progress::Silent;
use simgpu_bench::ResultsFolder;
use simgpu_io::FieldPath;
use simgpu_link::{Link, LinkInMemory, RecordFields};

/// Measures the page once it is loaded, and posts the results to the page around it.
const MEASURE: &str = include_str!("support/measure_page.js");

/// Widths of a wide and a narrow screen.
const WIDTHS: [u32; 2] = [1280, 400];

fn browser() -> Option<PathBuf> {
    let named = std::env::var_os("CHROME").map(PathBuf::from);
    let names = [
        "chromium",
        "google-chrome",
        "chromium-browser",
        "google-chrome-stable",
    ];
    let folders = std::env::var_os("PATH").unwrap_or_default();
    let folders: Vec<PathBuf> = std::env::split_paths(&folders).collect();
    let known = names
        .iter()
        .flat_map(|name| folders.iter().map(move |folder| folder.join(name)));
    named.or_else(|| known.into_iter().find(|path| path.is_file()))
}

/// Names and pages, with the fewest labels of each: made-up results of a long measurement, the newest measured results,
/// links, and removed documents.
fn pages() -> Vec<(String, String, u64)> {
    let place = tempfile::tempdir().unwrap();
    let mut made_up = ResultsFolder::create(place.path(), made_up::environment()).unwrap();
    made_up.tables = MadeUp::realistic().tables();
    let mut pages = vec![("made up".to_owned(), made_up.page(), 100)];
    if let Some(path) = newest() {
        let folder = ResultsFolder::read(&path).unwrap();
        pages.push((path.display().to_string(), folder.page(), 100));
    }
    let of_runs = dedup_page::pages().into_iter();
    let of_runs = of_runs.chain(pairs_page::pages());
    for (name, page) in of_runs
        .chain(passages_page::pages())
        .chain(contain_page::pages())
    {
        pages.push((name.to_owned(), page, 10));
    }
    for (name, threshold) in [("links", 0.5), ("few links", 0.02), ("no links", 0.99)] {
        pages.push((name.to_owned(), links(threshold), 10));
    }
    pages
}

/// The report of links between records of made-up names.
fn links(threshold: f64) -> String {
    let names = |of: fn(u64) -> String| {
        let names: ArrayRef = Arc::new(StringArray::from_iter_values((0..2000).map(of)));
        let long: ArrayRef = Arc::new(StringArray::from_iter_values((0..2000).map(|i| {
            let words: Vec<String> = (0..40)
                .map(|k| format!("word{}", (i * 31 + k) % 977))
                .collect();
            words.join(" ") + &"x".repeat(200)
        })));
        [RecordBatch::try_from_iter([("name", names), ("text", long)]).unwrap()]
    };
    let a = names(|i| format!("name {} {}", i * i % 1009, i * 7 % 911));
    let b = names(|i| format!("{} {}", i * i % 1009, i * 11 % 911));
    let task = Link {
        threshold: Some(threshold),
        ..Link::default()
    };
    let fields = RecordFields::new(["name", "text"].map(FieldPath::new));
    let found = LinkInMemory {
        second: Some(&b),
        ..LinkInMemory::new(&a, fields)
    }
    .find(&task, &Silent);
    found.unwrap().report.page()
}

/// The newest folder of results written by simgpu bench. Folder names begin with dates.
fn newest() -> Option<PathBuf> {
    let results = Path::new(env!("CARGO_MANIFEST_DIR")).join("../results");
    let folders = fs::read_dir(results).ok()?;
    let paths = folders.filter_map(|folder| Some(folder.ok()?.path()));
    paths
        .filter(|path| {
            ["report.html", "runs.csv"]
                .iter()
                .all(|file| path.join(file).is_file())
        })
        .max()
}

/// Results of the script at some width, in a frame, because windows have a least width.
fn measured(browser: &Path, page: &str, width: u32) -> Value {
    let folder = tempfile::tempdir().unwrap();
    let inner = page.replace("</body>", &format!("<script>{MEASURE}</script></body>"));
    fs::write(folder.path().join("report.html"), inner).unwrap();
    let outer = format!(
        "<!DOCTYPE html><body style='margin:0'><pre id='measured'></pre>\
         <iframe src='report.html' style='border:0;width:{width}px;height:900px'></iframe>\
         <script>addEventListener('message', event => {{ document.getElementById('measured').textContent = event.data }})</script>"
    );
    let frame = folder.path().join("frame.html");
    fs::write(&frame, outer).unwrap();
    let output = Command::new(browser)
        .args([
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-dev-shm-usage",
            "--hide-scrollbars",
        ])
        .args([
            "--no-first-run",
            "--allow-file-access-from-files",
            "--virtual-time-budget=10000",
            "--window-size=1400,1000",
        ])
        .arg(format!(
            "--user-data-dir={}",
            folder.path().join("profile").display()
        ))
        .arg("--dump-dom")
        .arg(format!("file://{}", frame.display()))
        .output()
        .unwrap();
    let dom = String::from_utf8_lossy(&output.stdout);
    let found = dom
        .split_once("<pre id=\"measured\">")
        .and_then(|(_, rest)| rest.split_once("</pre>"));
    let (found, _) =
        found.unwrap_or_else(|| panic!("{dom}\n{}", String::from_utf8_lossy(&output.stderr)));
    let found = found
        .replace("&lt;", "<")
        .replace("&gt;", ">")
        .replace("&amp;", "&");
    serde_json::from_str(&found)
        .unwrap_or_else(|_| panic!("{found:?}\n{}", String::from_utf8_lossy(&output.stderr)))
}

#[test]
#[allow(clippy::print_stderr, reason = "skipped tests print a note")]
fn labels_are_readable() {
    let Some(browser) = browser() else {
        let is_required = std::env::var("SIMGPU_REQUIRE_BROWSER").is_ok_and(|value| value == "1");
        assert!(
            !is_required,
            "no browser found; install Chromium or set CHROME"
        );
        eprintln!("skipped: no browser");
        return;
    };
    for (name, page, least) in pages() {
        for width in WIDTHS {
            let found = measured(&browser, &page, width);
            assert_eq!(found["width"], width);
            assert!(found["labels"].as_u64() > Some(least), "{name}: {found}");
            for problem in ["overlapping", "cut_off", "small", "too_wide"] {
                assert_eq!(
                    found[problem],
                    serde_json::json!([]),
                    "{problem} at {width} pixels: {name}"
                );
            }
        }
    }
}

/// The script detects every problem on a bad page.
#[test]
fn script_finds_every_problem() {
    let Some(browser) = browser() else {
        return;
    };
    let page = "<!DOCTYPE html><html><body style='margin:0'><svg width='300' height='100'>\
        <text x='10' y='50' style='font-size:20px'>one label</text><text x='20' y='52' style='font-size:20px'>another</text>\
        <text x='250' y='20' style='font-size:20px'>is cut off</text><text x='10' y='90' style='font-size:5px'>small</text></svg>\
        <p style='width:2000px;font-size:16px'>wide</p></body></html>";
    let found = measured(&browser, page, 400);
    for problem in ["overlapping", "cut_off", "small", "too_wide"] {
        assert_ne!(found[problem], serde_json::json!([]), "{problem}: {found}");
    }
}
