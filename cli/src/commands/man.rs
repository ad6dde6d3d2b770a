//! `simgpu man`.

use std::fs;
use std::path::PathBuf;

use clap::{Args, CommandFactory};
use clap_mangen::Man;

use crate::Cli;
use crate::streams::print;

/// Print the manual page, or write the pages of all commands to a folder
#[derive(Args, Debug)]
pub(crate) struct Arguments {
    /// Folder for the pages: simgpu.1, simgpu-dedup.1 and so on; existing pages are replaced [default: print
    /// the page of simgpu]
    #[arg(value_name = "DIR")]
    folder: Option<PathBuf>,
}

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let command = Cli::command().disable_help_subcommand(true);
    let Some(folder) = &arguments.folder else {
        let mut page = Vec::new();
        Man::new(command).render(&mut page)?;
        print(&page)?;
        return Ok(());
    };
    fs::create_dir_all(folder).map_err(simgpu::Error::io("create", folder))?;
    clap_mangen::generate_to(command, folder).map_err(simgpu::Error::io("write to", folder))?;
    Ok(())
}
