//! Renders Markdown pages as HTML.

use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd, html};

/// Highest heading level of an embedded page, below the heading of the rule.
const LEAST: usize = 4;

/// Renders an embedded page as HTML, with headings at lower levels. HTML in the Markdown is escaped.
pub fn html(markdown: &str) -> String {
    let events = events(markdown).map(|event| match event {
        Event::Start(Tag::Heading { level, id, classes, attrs }) => {
            Event::Start(Tag::Heading { level: below(level), id, classes, attrs })
        }
        Event::End(TagEnd::Heading(level)) => Event::End(TagEnd::Heading(below(level))),
        event => event,
    });
    written(events)
}

/// Parses Markdown, turning HTML into text.
fn events(markdown: &str) -> impl Iterator<Item = Event<'_>> {
    Parser::new_ext(markdown, Options::ENABLE_TABLES).map(|event| match event {
        Event::Html(text) | Event::InlineHtml(text) => Event::Text(text),
        event => event,
    })
}

fn written<'e>(events: impl Iterator<Item = Event<'e>>) -> String {
    let mut text = String::new();
    html::push_html(&mut text, events);
    // Scrollable elements must be focusable by keyboard.
    text.replace("<pre>", "<pre tabindex=\"0\">")
}

fn below(level: pulldown_cmark::HeadingLevel) -> pulldown_cmark::HeadingLevel {
    let level = (level as usize + LEAST - 1).min(6);
    level.try_into().unwrap_or(pulldown_cmark::HeadingLevel::H6)
}

#[cfg(test)]
mod tests {
    #[test]
    fn embedded_pages_have_lower_headings_and_no_html() {
        let html = super::html("# One\n\n**Why** `a < b`\n\n<script>x</script>\n\n```\nx & y\n```\n");
        assert!(
            html.contains("<h4>One</h4>") && html.contains("<strong>Why</strong> <code>a &lt; b</code>"),
            "{html}"
        );
        assert!(html.contains("&lt;script&gt;") && html.contains("<code>x &amp; y"), "{html}");
    }
}
