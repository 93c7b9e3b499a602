//! Canonical text of a symbolic integer: `2*s + 1`, `floor((h + 1) / 2)`, `max(1, s0)`.
//! [`Dim::parse`] reads it back, except that every symbol becomes a size.

use std::fmt::{self, Write};

use super::parse::{is_identifier, parse_expression};
use super::poly::{Atom, Extreme, Monomial, Poly};
use super::{Dim, Symbol};

impl fmt::Display for Dim {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.as_symbol() {
            Some(symbol) => fmt_lone_symbol(symbol, f),
            None => fmt_sum(self, f),
        }
    }
}

/// Writes the name without quotes, unless the name would parse as an expression other than this symbol.
fn fmt_lone_symbol(symbol: &Symbol, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    match parse_expression(symbol.name()) {
        Some(dim) if dim.as_symbol().is_none_or(|read| read.name() != symbol.name()) => fmt_quoted(symbol, f),
        _ => f.write_str(symbol.name()),
    }
}

/// Writes a symbol within an expression, in backquotes unless its name is an identifier.
fn fmt_symbol(symbol: &Symbol, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    if is_identifier(symbol.name()) { f.write_str(symbol.name()) } else { fmt_quoted(symbol, f) }
}

fn fmt_quoted(symbol: &Symbol, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    write!(f, "`{}`", symbol.name().replace('`', "``"))
}

fn fmt_sum(dim: &Dim, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let poly = dim.poly();
    if poly.is_zero() {
        return f.write_char('0');
    }
    for (i, (monomial, coefficient)) in poly.terms().enumerate() {
        f.write_str(match (i, coefficient < 0) {
            (0, true) => "-",
            (0, false) => "",
            (_, true) => " - ",
            (_, false) => " + ",
        })?;
        fmt_product(monomial, coefficient.unsigned_abs(), f)?;
    }
    Ok(())
}

fn fmt_product(monomial: &Monomial, coefficient: u64, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    if coefficient != 1 || monomial.is_one() {
        write!(f, "{coefficient}")?;
    }
    for (i, (atom, power)) in monomial.factors().iter().enumerate() {
        if i > 0 || coefficient != 1 {
            f.write_char('*')?;
        }
        fmt_atom(atom, f)?;
        if *power > 1 {
            write!(f, "**{power}")?;
        }
    }
    Ok(())
}

fn fmt_atom(atom: &Atom, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    match atom {
        Atom::Symbol(symbol) => fmt_symbol(symbol, f),
        Atom::FloorDiv(n, d) => {
            f.write_str("floor(")?;
            fmt_operand(n, is_product, f)?;
            f.write_str(" / ")?;
            fmt_operand(d, is_factor, f)?;
            f.write_char(')')
        }
        Atom::Extremum(which, args) => {
            f.write_str(match which {
                Extreme::Min => "min(",
                Extreme::Max => "max(",
            })?;
            for (i, arg) in args.iter().enumerate() {
                f.write_str(if i > 0 { ", " } else { "" })?;
                fmt_sum(arg, f)?;
            }
            f.write_char(')')
        }
    }
}

/// Writes an operand, in parentheses unless it `binds` tightly enough.
fn fmt_operand(dim: &Dim, binds: fn(&Poly) -> bool, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    if binds(&dim.poly()) {
        return fmt_sum(dim, f);
    }
    f.write_char('(')?;
    fmt_sum(dim, f)?;
    f.write_char(')')
}

fn is_product(poly: &Poly) -> bool {
    poly.terms().count() <= 1
}

fn is_factor(poly: &Poly) -> bool {
    poly.as_const().is_some_and(|n| n >= 0) || poly.as_atom().is_some()
}
