//! Operators on lists, dictionaries and strings.

use std::sync::Arc;

use super::expression::tuple;
use super::fault::Fault;
use super::interpreter::{Interpreter, MAX_MEMBERS};
use super::item::Item;
use super::item::{Dict, State};

impl Interpreter<'_> {
    /// Applies an operator to lists, dictionaries or strings; `None` if it is another operator.
    pub fn list_op(&mut self, name: &str, given: &[Item]) -> Result<Option<Item>, Fault> {
        match (name, given) {
            ("len", [Item::List(_) | Item::Tuple(_) | Item::Dict(_)]) => {
                return Ok(Some(Item::Int(given[0].length() as i64)));
            }
            ("__getitem__", [object, index]) => return self.indexed(object, index).map(Some),
            ("append", _) | ("_set_item", [Item::List(_), ..]) => {}
            _ => self.charge(given.iter().map(Item::length).sum())?,
        }
        Ok(Some(match (name, given) {
            ("__is__" | "__isnot__", [a, b]) => {
                let is_none = |item: &Item| matches!(item, Item::None);
                let is_same = match (a, b) {
                    (Item::Tensor(a), Item::Tensor(b)) => self.recorder.is_same(*a, *b)?,
                    _ if !is_none(a) && !is_none(b) => {
                        return Err("it tests the identity of two objects".into());
                    }
                    _ => is_none(a) && is_none(b),
                };
                Item::Bool(is_same == (name == "__is__"))
            }
            ("append", [Item::List(list), item]) => {
                self.changes(&list.state)?;
                list.state.admit(item)?;
                list.items.borrow_mut().push(item.clone());
                given[0].clone()
            }
            ("extend", [Item::List(list), other]) => {
                self.changes(&list.state)?;
                let members = other.members().ok_or("it extends a list by an object that is not a list")?;
                members.iter().try_for_each(|member| list.state.admit(member))?;
                list.items.borrow_mut().extend(members);
                Item::None
            }
            ("insert", [Item::List(list), at, item]) => {
                self.changes(&list.state)?;
                list.state.admit(item)?;
                let mut items = list.items.borrow_mut();
                let at = at.int().ok_or("it inserts at a computed position")?;
                let at = if at < 0 { (at + items.len() as i64).max(0) } else { at.min(items.len() as i64) };
                items.insert(at as usize, item.clone());
                Item::None
            }
            ("pop", [Item::List(list), rest @ ..]) => {
                self.changes(&list.state)?;
                let length = list.items.borrow().len();
                let at = position(rest.first().unwrap_or(&Item::Int(-1)), length)?;
                list.items.borrow_mut().remove(at)
            }
            ("clear", [Item::List(list)]) => {
                self.changes(&list.state)?;
                list.items.borrow_mut().clear();
                Item::None
            }
            ("reverse", [Item::List(list)]) => {
                self.changes(&list.state)?;
                list.items.borrow_mut().reverse();
                Item::None
            }
            ("_set_item", [Item::List(list), at, item]) => {
                self.changes(&list.state)?;
                list.state.admit(item)?;
                let length = list.items.borrow().len();
                list.items.borrow_mut()[position(at, length)?] = item.clone();
                given[0].clone()
            }
            ("_set_item", [Item::Dict(dict), key, item]) => {
                self.set_item(dict, key, item)?;
                Item::None
            }
            ("len", [Item::Str(text)]) => Item::Int(text.chars().count() as i64),
            ("__contains__", [Item::Dict(dict), key]) => Item::Bool(found(dict, key)?.is_some()),
            ("__contains__", [list, item]) if list.members().is_some() => {
                let mut is_found = false;
                for member in list.members().unwrap_or_default() {
                    is_found |= member.equals(item).ok_or("it searches a list for a computed value")?;
                }
                Item::Bool(is_found)
            }
            ("keys", [Item::Dict(dict)]) => {
                self.list(dict.items.borrow().iter().map(|(key, _)| key.clone()).collect())
            }
            ("values", [Item::Dict(dict)]) => {
                self.list(dict.items.borrow().iter().map(|(_, value)| value.clone()).collect())
            }
            ("items", [Item::Dict(dict)]) => {
                let pairs = dict.items.borrow().clone().into_iter();
                self.list(pairs.map(|(key, value)| tuple(vec![key, value])).collect())
            }
            ("dict", []) => self.dict(Vec::new()),
            ("dict", [Item::Dict(dict)]) => self.dict(dict.items.borrow().clone()),
            ("get", [Item::Dict(dict), key, rest @ ..]) => {
                found(dict, key)?.unwrap_or_else(|| rest.first().cloned().unwrap_or(Item::None))
            }
            ("list" | "copy", [list]) if list.members().is_some() => {
                self.list(list.members().unwrap_or_default())
            }
            ("slice", [list, rest @ ..]) if list.members().is_some() => {
                self.list(sliced(list.members().unwrap_or_default(), rest)?)
            }
            ("add", [a, b]) => match (a.members(), b.members(), a, b) {
                (Some(a), Some(b), ..) => self.list([a, b].concat()),
                (.., Item::Str(a), Item::Str(b)) => Item::Str(format!("{a}{b}").into()),
                _ => return Ok(None),
            },
            ("mul", [list, count]) if list.members().is_some() => {
                let count = count.int().ok_or("it repeats a list a computed number of times")?;
                let length = list.members().map_or(0, |members| members.len());
                let whole = usize::try_from(count).unwrap_or(0).saturating_mul(length);
                if whole > MAX_MEMBERS {
                    return Err("it makes a list with too many members".into());
                }
                self.charge(whole)?;
                let members = list.members().unwrap_or_default();
                self.list(members.iter().cycle().take(whole).cloned().collect())
            }
            ("eq" | "ne", [a, b]) if !(a.is_tensor() || b.is_tensor() || a.is_number() && b.is_number()) => {
                let equal = self.equal(a, b)?;
                if name == "eq" { equal } else { self.number_op("__not__", &[equal])?.unwrap_or(Item::None) }
            }
            ("all" | "any", [list]) if list.members().is_some() => {
                let op = if name == "all" { "__and__" } else { "__or__" };
                let mut found = Item::Bool(name == "all");
                for member in list.members().unwrap_or_default() {
                    if !member.is_number() {
                        return Err("it searches a list that contains no booleans".into());
                    }
                    let truth = self.builtin("bool", vec![member])?;
                    let next = self.number_op(op, &[found, truth])?;
                    found = next.ok_or("it searches a list that contains no booleans")?;
                }
                found
            }
            ("sum", [list]) if list.members().is_some() => {
                let mut total = Item::Int(0);
                for member in list.members().unwrap_or_default() {
                    let next = self.number_op("add", &[total, member])?;
                    total = next.ok_or("it adds the members of a list that contains no numbers")?;
                }
                total
            }
            ("max" | "min", [list]) if list.members().is_some() => {
                let mut members = list.members().unwrap_or_default().into_iter();
                let mut found = members.next().ok_or("it searches an empty list")?;
                for member in members {
                    let next = self.number_op(name, &[found, member])?;
                    found = next.ok_or("it searches a list that contains no numbers")?;
                }
                found
            }
            ("join", [Item::Str(between), list]) if list.members().is_some() => {
                let members = list.members().unwrap_or_default();
                let length: usize = members.iter().map(|member| member.length() + between.len()).sum();
                self.charge(length)?;
                let text = |item| match item {
                    Item::Str(text) => Some(text),
                    _ => None,
                };
                let members: Option<Vec<Arc<str>>> = members.into_iter().map(text).collect();
                members.map_or(Item::Message, |members| Item::Str(members.join(between).into()))
            }
            _ => return Ok(text_op(name, given)),
        }))
    }

    /// Returns whether two objects are equal, which may be computed at run time.
    fn equal(&mut self, a: &Item, b: &Item) -> Result<Item, Fault> {
        if let Some(equal) = a.equals(b) {
            return Ok(Item::Bool(equal));
        }
        let unknown = || Fault::from("it compares computed values");
        let (Some(x), Some(y)) = (a.members(), b.members()) else {
            return self.number_op("eq", &[a.clone(), b.clone()])?.ok_or_else(unknown);
        };
        self.charge(x.len())?;
        let mut all = Item::Bool(x.len() == y.len());
        for (a, b) in x.iter().zip(&y) {
            let equal = self.equal(a, b)?;
            all = self.number_op("__and__", &[all, equal])?.ok_or_else(unknown)?;
        }
        Ok(all)
    }

    /// Checks that a list or dictionary is not changed in a subgraph that does not contain it.
    fn changes(&self, state: &State) -> Result<(), Fault> {
        Ok(state.changes(self.recorder.depth)?)
    }

    fn set_item(&mut self, dict: &Dict, key: &Item, item: &Item) -> Result<(), Fault> {
        self.changes(&dict.state)?;
        dict.state.admit(item)?;
        let mut items = dict.items.borrow_mut();
        for (other, value) in items.iter_mut() {
            if other.equals(key).ok_or("it uses a computed key")? {
                *value = item.clone();
                return Ok(());
            }
        }
        dict.state.admit(key)?;
        items.push((key.clone(), item.clone()));
        Ok(())
    }

    /// Returns the member of a list, tuple or dictionary at an index or key.
    pub fn indexed(&mut self, object: &Item, index: &Item) -> Result<Item, Fault> {
        if let Item::Dict(dict) = object {
            self.charge(object.length())?;
            return Ok(found(dict, index)?.ok_or("it reads a key that the dictionary does not have")?);
        }
        if let Item::Str(text) = object {
            self.charge(text.len())?;
            let chars: Vec<char> = text.chars().collect();
            return Ok(Item::Str(chars[position(index, chars.len())?].to_string().into()));
        }
        match object {
            Item::List(list) => {
                let items = list.items.borrow();
                Ok(items[position(index, items.len())?].clone())
            }
            Item::Tuple(members) => Ok(members[position(index, members.len())?].clone()),
            _ => Err(format!("it indexes {}", object.kind()).into()),
        }
    }
}

fn found(dict: &Dict, key: &Item) -> Result<Option<Item>, Fault> {
    for (other, value) in dict.items.borrow().iter() {
        if other.equals(key).ok_or("it uses a computed key")? {
            return Ok(Some(value.clone()));
        }
    }
    Ok(None)
}

/// Returns the position for a constant index, which may be negative.
fn position(index: &Item, length: usize) -> Result<usize, Fault> {
    let index = index.int().ok_or("it indexes a list at a computed position")?;
    let at = if index < 0 { index + length as i64 } else { index };
    let at = usize::try_from(at).ok().filter(|&at| at < length);
    Ok(at.ok_or_else(|| format!("the index {index} is out of range for a list of {length}"))?)
}

/// Returns the members from `start` to `end` with a step.
fn sliced(members: Vec<Item>, rest: &[Item]) -> Result<Vec<Item>, Fault> {
    let length = members.len() as i64;
    let number = |at: usize, otherwise: i64| match rest.get(at) {
        None | Some(Item::None) => Ok(otherwise),
        Some(item) => item.int().ok_or(Fault::from("it slices a list at a computed position")),
    };
    let step = number(2, 1)?;
    if step <= 0 {
        return Err("it slices a list backwards".into());
    }
    let clamped = |at: i64| if at < 0 { (at + length).max(0) } else { at.min(length) };
    let (start, end) = (clamped(number(0, 0)?), clamped(number(1, length)?));
    let places = (start..end).step_by(usize::try_from(step).unwrap_or(1));
    Ok(places.filter_map(|at| members.get(at as usize).cloned()).collect())
}

/// Applies an operator to strings; `None` if it is another operator.
fn text_op(name: &str, given: &[Item]) -> Option<Item> {
    Some(match (name, given) {
        ("format", [Item::Str(text), rest @ ..]) => {
            let mut items = rest.iter();
            let mut parts = text.split("{}");
            let mut text = parts.next().unwrap_or_default().to_owned();
            for part in parts {
                let Some(shown) = items.next().and_then(shown) else { return Some(Item::Message) };
                text.push_str(&shown);
                text.push_str(part);
            }
            Item::Str(text.into())
        }
        ("percentFormat", [Item::Str(_), ..]) => Item::Message,
        ("add", [Item::Message, Item::Str(_) | Item::Message] | [Item::Str(_), Item::Message]) => {
            Item::Message
        }
        ("lower", [Item::Str(text)]) => Item::Str(text.to_lowercase().into()),
        ("upper", [Item::Str(text)]) => Item::Str(text.to_uppercase().into()),
        ("startswith", [Item::Str(text), Item::Str(start)]) => Item::Bool(text.starts_with(&**start)),
        ("endswith", [Item::Str(text), Item::Str(end)]) => Item::Bool(text.ends_with(&**end)),
        ("str", [item]) => shown(item).map_or(Item::Message, |text| Item::Str(text.into())),
        _ => return None,
    })
}

/// Returns the text of a value; `None` if it is not evaluated.
fn shown(item: &Item) -> Option<String> {
    Some(match item {
        Item::None => "None".to_owned(),
        Item::Bool(true) => "True".to_owned(),
        Item::Bool(false) => "False".to_owned(),
        Item::Int(int) => int.to_string(),
        Item::Str(text) => text.to_string(),
        _ => return None,
    })
}
