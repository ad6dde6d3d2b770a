//! `simgpu man`.

use std::fs;
use std::path::{Path, PathBuf};

use clap::{Args, Command, CommandFactory};
use clap_mangen::Man;

use crate::Cli;
use crate::streams::print;

/// Print the manual page, or write the pages of all commands to a folder
///
/// To read it: simgpu man | man -l -
#[derive(Args, Debug)]
pub(crate) struct ManArguments {
    /// Folder for the pages: simgpu.1, simgpu-dedup.1 and so on; existing pages are replaced [default: print
    /// the page of simgpu]
    #[arg(value_name = "DIR")]
    folder: Option<PathBuf>,
}

pub(crate) fn run(arguments: &ManArguments) -> anyhow::Result<()> {
    let mut command = Cli::command().disable_help_subcommand(true);
    command.build();
    let Some(folder) = &arguments.folder else {
        return Ok(print(page(&command)?.1)?);
    };
    fs::create_dir_all(folder).map_err(simgpu::Error::io("create", folder))?;
    write_pages(&command, folder)
}

/// Writes the pages of a command and its subcommands.
fn write_pages(command: &Command, folder: &Path) -> anyhow::Result<()> {
    for subcommand in command.get_subcommands().filter(|it| !it.is_hide_set()) {
        write_pages(subcommand, folder)?;
    }
    let (name, page) = page(command)?;
    let path = folder.join(name);
    Ok(fs::write(&path, page).map_err(simgpu::Error::io("write", &path))?)
}

/// The name of the page of a command, and the page. Its synopsis is the usage: clap's own one names every option, without
/// values.
fn page(command: &Command) -> anyhow::Result<(String, String)> {
    let man = Man::new(command.clone());
    let mut page = Vec::new();
    man.render(&mut page)?;
    let page = String::from_utf8(page)?;
    let usage = command.clone().render_usage().to_string();
    let usage = usage
        .trim_start_matches("Usage:")
        .trim()
        .replace('-', "\\-");
    let (start, end) = (".SH SYNOPSIS\n", ".SH DESCRIPTION\n");
    let page = match (page.split_once(start), page.split_once(end)) {
        (Some((before, _)), Some((_, after))) => {
            format!("{before}{start}{usage}\n{end}{after}")
        }
        _ => page,
    };
    Ok((man.get_filename(), page))
}
