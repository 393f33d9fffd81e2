"""The page on a telephone: its views, and what must hold in each of them."""

from .browser import violations

__all__ = ["SMALLEST", "good", "view"]

SIDEWAYS = """() => [...document.querySelectorAll("main *, nav")].filter(each => each.clientWidth
    && each.scrollWidth > each.clientWidth + 1 && /auto|scroll/.test(getComputedStyle(each).overflowX)
    && !each.matches(".across, .excerpt pre")).map(each => each.getAttribute("aria-label") ?? each.className)"""
"""What must be moved sideways to be seen; graphs and source code may."""
BROKEN = """() => [...document.querySelectorAll("td, tbody th")].flatMap(cell => {
    const texts = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT), found = [];
    for (let text = texts.nextNode(); text; text = texts.nextNode())
        for (const word of text.data.matchAll(/[\\w.:]{1,10}(?![\\w.:])/g)) {
            const range = document.createRange();
            range.setStart(text, word.index), range.setEnd(text, word.index + word[0].length);
            const within = /[\\w.:]/.test(text.data[word.index - 1] ?? "");
            if (!within && range.getClientRects().length > 1) found.push(word[0]);
        }
    return found;
})"""
"""Short words, numbers and times in tables that are broken within."""
SMALLEST = {"width": 360, "height": 740}


def view(page, name):
    """Show a view."""
    page.get_by_label("Views").get_by_role("button", name=name, exact=True).click()


def good(page):
    """Nothing that axe-core objects to, nothing beside the screen, no short word that is broken."""
    assert not (found := violations(page)), found
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert not (found := page.evaluate(SIDEWAYS)), found
    assert not (found := page.evaluate(BROKEN)), found
