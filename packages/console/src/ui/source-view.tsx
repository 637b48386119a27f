import { CopyButton } from './copy-button.tsx'

const WORDS =
  'and|as|assert|async|await|break|class|continue|def|del|elif|else|except|finally|for|from|global|if|import|in|is|lambda|nonlocal|not|or|pass|raise|return|try|while|with|yield|None|True|False|match|case'

const TOKEN = new RegExp(
  [
    '(?<comment>#.*)',
    '(?<string>[rbfu]{0,2}(?:"""(?:[^\\\\]|\\\\.)*?"""|\'\'\'(?:[^\\\\]|\\\\.)*?\'\'\'|"(?:[^"\\\\\\n]|\\\\.)*"?|\'(?:[^\'\\\\\\n]|\\\\.)*\'?))',
    '(?<decorator>@[\\w.]+)',
    `(?<word>\\b(?:${WORDS})\\b)`,
    '(?<number>\\b\\d[\\w.]*)',
  ].join('|'),
  'gis',
)

/** Parts of a Python text with their kind; together they are the text. */
function partsOf(source: string): { kind: string | undefined; text: string }[] {
  const parts: { kind: string | undefined; text: string }[] = []
  let at = 0
  for (const match of source.matchAll(new RegExp(TOKEN, 'gi'))) {
    if (match.index > at) parts.push({ kind: undefined, text: source.slice(at, match.index) })
    const kind = Object.entries(match.groups ?? {}).find(([, text]) => text !== undefined)?.[0]
    parts.push({ kind, text: match[0] })
    at = match.index + match[0].length
  }
  parts.push({ kind: undefined, text: source.slice(at) })
  return parts
}

/** Python source with the numbers of its lines. */
export function SourceView({ source }: { source: string }) {
  const lines = source.split('\n').length
  return (
    <section aria-label="Source">
      <div class="payload-head">
        <h2>{lines} lines</h2>
        <CopyButton text={source} label="Copy" />
      </div>
      <pre class="json source" tabIndex={0} role="region" aria-label="Source, text">
        <span class="numbers" aria-hidden="true">
          {Array.from({ length: lines }, (_, i) => i + 1).join('\n')}
        </span>
        <code>
          {partsOf(source).map(({ kind, text }, i) => (
            <span key={i} class={kind && `py-${kind}`}>
              {text}
            </span>
          ))}
        </code>
      </pre>
    </section>
  )
}
