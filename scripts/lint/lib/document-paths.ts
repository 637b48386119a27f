import { dirname, join, normalize } from 'node:path/posix'

/** A path of the repository between backticks: with an extension, or a folder with its final slash. */
const QUOTED =
  /`((?:bench|deploy|docs|examples|packages|proto|scripts|sdk|services|tests)\/[\w./-]*(?:\.\w+|\/))`/g
/** Target of a link that is a path, without its anchor. */
const LINKED = /\]\((?!\w+:|#)([^)#\s]+)(?:#[^)]*)?\)/g

/** Target of a link to a heading; without a path the heading is in the same document. */
const ANCHORED = /\]\((?!\w+:)([^)#\s]*)#([^)\s]+)\)/g
const FENCED = /^```.*?^```/gms
const HEADING = /^#+ (.*)$/gm

/** Link that is named after code, to a file of code. */
const NAMED = /\[`([\w.]+)`\]\((?!\w+:)([^)#\s]+\.(?:ts|py))\)/g

/** Links of a document whose names must occur in the files that they lead to. */
export function namedLinksOf(file: string, text: string): { name: string; path: string }[] {
  return [...text.matchAll(NAMED)].map(([, name = '', path = '']) => ({
    name,
    path: normalize(join(dirname(file), path)),
  }))
}

/** Links of a document to headings of documents. */
export function anchorsOf(file: string, text: string): { path: string; anchor: string }[] {
  return [...text.matchAll(ANCHORED)]
    .map(([, path = '', anchor = '']) => ({
      path: path === '' ? file : normalize(join(dirname(file), path)),
      anchor,
    }))
    .filter(({ path }) => path.endsWith('.md'))
}

/** Anchors of the headings of a document: lower case, without punctuation, with hyphens for blanks. */
export function headingAnchorsOf(text: string): Set<string> {
  const headings = [...text.replace(FENCED, '').matchAll(HEADING)].map(
    ([, heading = '']) => heading,
  )
  return new Set(
    headings.map((heading) =>
      heading
        .toLowerCase()
        .replace(/[^\p{L}\p{N}_ -]/gu, '')
        .replaceAll(' ', '-'),
    ),
  )
}

/** True if each part of a dotted name is a word of the code. */
export function isNamedIn(code: string, name: string): boolean {
  return name.split('.').every((part) => new RegExp(`(?<!\\w)${part}(?!\\w)`).test(code))
}

/**
 * Paths that a document names: those of the repository between backticks, and targets of links.
 */
export function pathsOf(file: string, text: string): { path: string; line: number }[] {
  return text.split('\n').flatMap((content, i) => {
    const quoted = [...content.matchAll(QUOTED)].map(([, path = '']) => path)
    const linked = [...content.matchAll(LINKED)].map(([, path = '']) =>
      normalize(join(dirname(file), path)),
    )
    return [...quoted, ...linked].map((path) => ({ path, line: i + 1 }))
  })
}
