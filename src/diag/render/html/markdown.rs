//! The pages of rules, which are Markdown.

use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd, html};

/// Below the heading of the rule.
const LEAST: usize = 4;

/// A page as HTML. Its own headings come below those of the page that it is put into; what looks like HTML is text.
pub fn html(markdown: &str) -> String {
    let events = Parser::new_ext(markdown, Options::ENABLE_TABLES).map(|event| match event {
        Event::Start(Tag::Heading { level, id, classes, attrs }) => {
            Event::Start(Tag::Heading { level: below(level), id, classes, attrs })
        }
        Event::End(TagEnd::Heading(level)) => Event::End(TagEnd::Heading(below(level))),
        Event::Html(text) | Event::InlineHtml(text) => Event::Text(text),
        event => event,
    });
    let mut text = String::new();
    html::push_html(&mut text, events);
    // What scrolls must be reached by keyboard.
    text.replace("<pre>", "<pre tabindex=\"0\">")
}

fn below(level: pulldown_cmark::HeadingLevel) -> pulldown_cmark::HeadingLevel {
    let level = (level as usize + LEAST - 1).min(6);
    level.try_into().unwrap_or(pulldown_cmark::HeadingLevel::H6)
}

#[cfg(test)]
mod tests {
    #[test]
    fn pages_come_below_what_is_around_and_bring_no_html() {
        let html = super::html("# One\n\n**Why** `a < b`\n\n<script>x</script>\n\n```\nx & y\n```\n");
        assert!(
            html.contains("<h4>One</h4>") && html.contains("<strong>Why</strong> <code>a &lt; b</code>"),
            "{html}"
        );
        assert!(html.contains("&lt;script&gt;") && html.contains("<code>x &amp; y"), "{html}");
    }
}
