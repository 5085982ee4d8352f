//! One line for problems that differ only in their place and their numbers.

use crate::character::Problem;

/// Most places that are named.
const MAX_PLACES: usize = 4;

/// Problems of one kind, in the order of their first.
struct Group {
    first: Problem,
    /// Text around the numbers.
    literals: Vec<String>,
    /// Smallest and largest number at each place of the text, as written.
    ranges: Vec<(String, String)>,
    places: Vec<String>,
    count: usize,
}

/// Joins problems whose texts differ at most in numbers: their places are listed, and numbers become ranges.
pub fn grouped(problems: Vec<Problem>) -> Vec<Problem> {
    let mut groups: Vec<Group> = Vec::new();
    for problem in problems {
        let (literals, numbers) = split_numbers(&problem.text);
        let same = |group: &&mut Group| {
            group.first.severity == problem.severity && group.literals == literals
        };
        match groups.iter_mut().find(same) {
            Some(group) => {
                for (range, number) in group.ranges.iter_mut().zip(numbers) {
                    extend(range, number);
                }
                if !group.places.contains(&problem.place) {
                    group.places.push(problem.place);
                }
                group.count += 1;
            }
            None => groups.push(Group {
                literals,
                ranges: numbers.into_iter().map(|n| (n.clone(), n)).collect(),
                places: vec![problem.place.clone()],
                count: 1,
                first: problem,
            }),
        }
    }
    groups.into_iter().map(Group::joined).collect()
}

impl Group {
    fn joined(self) -> Problem {
        if self.count == 1 {
            return self.first;
        }
        let mut text = String::new();
        for (index, literal) in self.literals.iter().enumerate() {
            text.push_str(literal);
            if let Some((low, high)) = self.ranges.get(index) {
                text.push_str(low);
                if high != low {
                    text.push('–');
                    text.push_str(high);
                }
            }
        }
        let named: Vec<&str> = self.places.iter().map(String::as_str).collect();
        let mut names = named[..named.len().min(MAX_PLACES)].join(", ");
        if named.len() > MAX_PLACES {
            names.push_str(", …");
        }
        let place = format!("{names} ({} times)", self.count);
        Problem {
            place: place.trim_start().to_owned(),
            text,
            ..self.first
        }
    }
}

fn extend(range: &mut (String, String), number: String) {
    let value = |text: &str| text.parse().unwrap_or(0.0f64);
    if value(&number) < value(&range.0) {
        range.0 = number;
    } else if value(&number) > value(&range.1) {
        range.1 = number;
    }
}

/// Text around numbers, and the numbers. There is one text more than numbers.
fn split_numbers(text: &str) -> (Vec<String>, Vec<String>) {
    let (mut literals, mut numbers) = (vec![String::new()], Vec::new());
    let mut rest = text;
    while let Some(start) = rest.find(|c: char| c.is_ascii_digit()) {
        let (before, from) = rest.split_at(start);
        let end = from.find(|c: char| !c.is_ascii_digit() && c != '.');
        // A full stop after a number ends the sentence.
        let number = from[..end.unwrap_or(from.len())].trim_end_matches('.');
        rest = &from[number.len()..];
        if let Some(last) = literals.last_mut() {
            last.push_str(before);
        }
        numbers.push(number.to_owned());
        literals.push(String::new());
    }
    if let Some(last) = literals.last_mut() {
        last.push_str(rest);
    }
    (literals, numbers)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::character::Severity;

    fn problem(severity: Severity, place: &str, text: &str) -> Problem {
        Problem {
            severity,
            remedy: None,
            place: place.to_owned(),
            text: text.to_owned(),
        }
    }

    #[test]
    fn problems_of_one_kind_become_one_line() {
        let mut many: Vec<Problem> = (0..84)
            .map(|k| {
                let text = format!(
                    "The joint scales its children (scale [1, 0.{}, 1]).",
                    k + 10
                );
                problem(Severity::Note, &format!("bone{k}"), &text)
            })
            .collect();
        many.push(problem(Severity::Warning, "", "The body lies."));
        many.push(problem(Severity::Note, "a", "Same."));
        many.push(problem(Severity::Note, "a", "Same."));
        many.push(problem(Severity::Warning, "a", "Same."));
        let told = grouped(many);
        let told: Vec<String> = (told.iter())
            .map(|problem| format!("{}: {}", problem.place, problem.text))
            .collect();
        assert_eq!(
            told,
            [
                "bone0, bone1, bone2, bone3, … (84 times): The joint scales its children (scale [1, 0.10–0.93, 1]).",
                ": The body lies.",
                "a (2 times): Same.",
                "a: Same.",
            ]
        );
    }

    #[test]
    fn texts_without_and_with_numbers_are_split() {
        let (literals, numbers) = split_numbers("12 of 3.5 m. End 7.");
        assert_eq!(numbers, ["12", "3.5", "7"]);
        assert_eq!(literals, ["", " of ", " m. End ", "."]);
        assert_eq!(split_numbers(""), (vec![String::new()], Vec::new()));
    }
}
