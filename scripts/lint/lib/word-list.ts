/**
 * The word list: what comments, doc strings, test titles, documents, log and error strings and
 * commit subjects may not say. `docs/glossary.md` has the terms to use instead.
 */
export type TextKind =
  | 'comment'
  | 'doc'
  | 'title'
  | 'test'
  | 'document'
  | 'message'
  | 'code'
  | 'commit'

interface Group {
  name: string
  pattern: RegExp
  kinds: TextKind[]
  /** Matches of `pattern` that are accepted. */
  allow?: RegExp
}

const PROSE: TextKind[] = ['comment', 'doc', 'title', 'test', 'document', 'message']

const GROUPS: Group[] = [
  {
    name: 'persons',
    kinds: PROSE,
    pattern: /\b(?:nobody|somebody|anybody|everybody|whoever|whomever)\b/gi,
  },
  {
    name: 'pronouns',
    kinds: PROSE,
    pattern: /\b(?:he|him|his|himself|she|hers?|herself)\b/gi,
  },
  {
    name: 'messages',
    kinds: PROSE,
    pattern: /\b(?:told|hear[sd]?|overhear\w*|whisper\w*|heed(?:s|ed)?|vouch(?:e[sd]|ing)?)\b/gi,
  },
  {
    name: 'idioms',
    kinds: PROSE,
    pattern:
      /\b(?:anew|by (?:it|him|them)sel(?:f|ves)|beside|as good as|go(?:es|ing)? on|out of reach|comes? between|has in hand|for good)\b/gi,
  },
  {
    name: 'pictures',
    kinds: PROSE,
    pattern:
      /\b(?:doors?|rooms?|the house|scenes?|draughts?|visitors?|strangers?|standing|seats?|favourites?|wish(?:es)?|mailbox|roster|clockwork|pulse|glance|glimpse|survey|patience|impatience|puzzled|hopeful|unwell|darkness)\b/gi,
    allow: /\bstanding grants?\b/gi,
  },
  {
    name: 'mechanism',
    kinds: PROSE,
    pattern:
      /\b(?:pok(?:e[ds]?|ing)|nudg(?:e[ds]?|ing)|lanes?|gather(?:s|ed|er|ing)?|hurr(?:y|ied)|urge[ds]?|carried calls?|being made|ow(?:e[ds]?|ing)|epochs?)\b/gi,
    allow: /\basyncio\.gather\b|\bepoch:(?:auth|catalog)\b|\bpending_epochs?\b|\bunix epoch\b/gi,
  },
  {
    name: 'clause',
    kinds: ['doc'],
    pattern: /^(?:what|whether|who(?:se|m|ever)?|which|of|that|where|as)\b/gi,
  },
  {
    name: 'title',
    kinds: ['title', 'test'],
    pattern:
      /^(?:[A-Z]\d{1,3}(?:, | to )?)*(?:: )?(?:what|who|whose|whoever|that|where|which|of|nobody)\b/gi,
  },
  {
    // a title is `condition: result`; one that consists of places for values has it in its rows
    name: 'form',
    kinds: ['test'],
    pattern: /^(?!.*: )(?!\s*(?:%[a-z]|\$\w+| )+\s*$).+/gi,
  },
  {
    name: 'commit',
    kinds: ['commit'],
    pattern:
      /^(?![a-z0-9-]+(?:, [a-z0-9-]+)*: (?!an? |the |who |what |that |of |one |no |each |it )[a-z]+ ).*/gi,
  },
  {
    name: 'bag',
    kinds: ['code'],
    pattern: /\b(?:interface|type) \w+ing\b/gi,
    allow: /\b(?:interface|type) (?:Binding|Firing|Keyring|Routing|\w*String)\b/gi,
  },
  {
    name: 'verb',
    kinds: ['code'],
    pattern:
      /export (?:async )?(?:function|const) (?:locked|started|failed|looked|owing|found|given|paused|resumed|passed|obtained)\b/gi,
  },
]

const blank = (text: string) => ' '.repeat(text.length)

/** Finds the words of the list in one text. */
export function wordsIn(
  kind: TextKind,
  text: string,
): { group: string; word: string; at: number }[] {
  return GROUPS.filter(({ kinds }) => kinds.includes(kind)).flatMap(({ name, pattern, allow }) => {
    const checked = allow ? text.replace(allow, blank) : text
    return [...checked.matchAll(pattern)].map((found) => ({
      group: name,
      word: found[0],
      at: found.index,
    }))
  })
}
