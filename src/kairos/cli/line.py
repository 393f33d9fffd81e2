"""The words of a command line that is being typed, and how a word is put back into it."""

__all__ = ["Word", "words_of"]

_SPECIAL = " \t\\'\"`$&|;<>()[]{}*?!#~"
"""Characters that a shell does not take as they are."""
_BREAKS = "=:"
"""Characters at which Bash begins a new word, as far as completion is concerned."""
_ENDS = ";|&\n"
"""Characters behind which another command begins."""


class Word:
    """A word: its text without quotes."""

    def __init__(self, text: str = "", quote: str = "", opened: int = 0, whole: bool = False) -> None:
        self.text = text
        self.quote = quote
        """The quote that is still open at its end."""
        self.opened = opened
        """How many characters are before that quote."""
        self.whole = whole
        """Whether it was begun, though its text may be empty."""

    def inserted(self, candidate: str, shell: str) -> str:
        """Return what the script of a shell is to put in place of the word."""
        if shell != "bash":
            return candidate  # the others quote by themselves, and replace the whole word
        if self.quote:
            return candidate[self.opened :]
        kept = max((self.text.rfind(each) for each in _BREAKS), default=-1) + 1
        return "".join(f"\\{each}" if each in _SPECIAL else each for each in candidate[kept:])


def words_of(line: str) -> list[Word]:
    """Return the words of the last command of a line, from ``kairos`` on; the last one, which may be empty, is the
    one at which the line ends."""
    words, word, position = [], Word(), 0
    while position < len(line):
        each = line[position]
        position += 1
        if word.quote:
            if each == word.quote:
                word.quote = ""
            elif each == "\\" and word.quote == '"' and line[position : position + 1] in ('"', "\\", "$", "`"):
                word.text += line[position]
                position += 1
            else:
                word.text += each
        elif each in "'\"":
            word.quote, word.opened, word.whole = each, len(word.text), True
        elif each == "\\":
            word.text += line[position : position + 1]
            position += 1
        elif each in _ENDS:
            words, word = [], Word()
        elif each in " \t":
            if word.text or word.whole:
                words.append(word)
            word = Word()
        else:
            word.text += each
    words.append(word)
    names = [each.text.rpartition("/")[2] for each in words]
    return words[names.index("kairos") :] if "kairos" in names else [Word("kairos"), Word()]
