//! Completions for shells and man pages, made of the arguments themselves, for those who package the tools.

use std::process::exit;

use clap::builder::PossibleValue;
use clap::{Arg, Command, CommandFactory, Parser, ValueEnum, value_parser};
use clap_complete::Shell;

use super::output;

/// What `--generate` makes.
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

/// The arguments of a tool. Where they ask for `--generate`, which is for nobody else, that is done instead.
pub fn arguments<A: Parser>() -> A {
    if std::env::args_os().nth(1).is_none_or(|first| first != "--generate") {
        return A::parse();
    }
    let generate = Arg::new("generate").long("generate").value_parser(value_parser!(Made)).required(true);
    let matches = Command::new("generate").arg(generate).get_matches();
    let made = matches.get_one::<Made>("generate").map_or_else(Vec::new, |&made| bytes::<A>(made));
    exit(i32::from(output::print_bytes(&made).is_err()))
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
