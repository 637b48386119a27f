/** Names in a User-Agent header; those that others repeat come last. */
const BROWSERS: [name: string, mark: RegExp][] = [
  ['Edge', /\bEdg(?:e|A|iOS)?\//],
  ['Opera', /\bOPR\//],
  ['Firefox', /\b(?:Firefox|FxiOS)\//],
  ['Chrome', /\b(?:Headless)?(?:Chrome|CriOS)\//],
  ['Safari', /\bSafari\//],
]
const SYSTEMS: [name: string, mark: RegExp][] = [
  ['Android', /\bAndroid\b/],
  ['iOS', /\b(?:iPhone|iPad)\b/],
  ['Windows', /\bWindows\b/],
  ['macOS', /\bMac OS X\b/],
  ['Linux', /\bLinux\b/],
]

const nameIn = (text: string, known: [string, RegExp][]) =>
  known.find(([, mark]) => mark.test(text))?.[0]

const MAX_CHARS = 60

/** A User-Agent header in words, such as `Firefox on Linux`; an unknown one as it was sent. */
export function browserOf(agent: string): string {
  const [browser, system] = [nameIn(agent, BROWSERS), nameIn(agent, SYSTEMS)]
  if (browser === undefined) return agent.slice(0, MAX_CHARS) || 'unknown browser'
  return system === undefined ? browser : `${browser} on ${system}`
}
