//! `--generate`, a hidden option for packagers: shell completions and man pages.
//!
//! Completions and man pages are generated from the argument definitions.

use std::ffi::OsString;

use clap::builder::PossibleValue;
use clap::{Arg, ArgMatches, Command, CommandFactory, Parser, ValueEnum, value_parser};
use clap_complete::Shell;

/// The output kinds of `--generate`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Made {
    Completions(Shell),
    ManPage,
}

impl ValueEnum for Made {
    fn value_variants<'a>() -> &'a [Self] {
        use Made::{Completions, ManPage};
        &[
            ManPage,
            Completions(Shell::Bash),
            Completions(Shell::Elvish),
            Completions(Shell::Fish),
            Completions(Shell::PowerShell),
            Completions(Shell::Zsh),
        ]
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        match self {
            Made::ManPage => Some(PossibleValue::new("man")),
            Made::Completions(shell) => shell.to_possible_value(),
        }
    }
}

/// Returns the generated text if the first argument is `--generate`.
pub fn generated<A: Parser>(args: &[OsString]) -> Option<Result<Vec<u8>, clap::Error>> {
    if args.get(1).is_none_or(|first| first != "--generate") {
        return None;
    }
    let generate = Arg::new("generate").long("generate").value_parser(value_parser!(Made)).required(true);
    let matches = Command::new("generate").arg(generate).try_get_matches_from(args);
    let made = |matches: &ArgMatches| matches.get_one::<Made>("generate").copied();
    Some(matches.map(|matches| made(&matches).map_or_else(Vec::new, bytes::<A>)))
}

fn bytes<A: CommandFactory>(made: Made) -> Vec<u8> {
    let mut command = A::command();
    let mut bytes = Vec::new();
    match made {
        Made::Completions(shell) => {
            let name = command.get_name().to_owned();
            clap_complete::generate(shell, &mut command, name, &mut bytes);
        }
        Made::ManPage => {
            clap_mangen::Man::new(command).render(&mut bytes).expect("memory takes everything");
        }
    }
    bytes
}
