import { dirname, join, normalize } from 'node:path/posix'

/** A path of the repository between backticks: with an extension, or a folder with its final slash. */
const QUOTED =
  /`((?:bench|deploy|docs|examples|packages|proto|scripts|sdk|services|tests)\/[\w./-]*(?:\.\w+|\/))`/g
/** Target of a link that is a path, without its anchor. */
const LINKED = /\]\((?!\w+:|#)([^)#\s]+)(?:#[^)]*)?\)/g

/** Link that is named after code, to a file of code. */
const NAMED = /\[`([\w.]+)`\]\((?!\w+:)([^)#\s]+\.(?:ts|py))\)/g

/** Links of a document whose names must occur in the files that they lead to. */
export function namedLinksOf(file: string, text: string): { name: string; path: string }[] {
  return [...text.matchAll(NAMED)].map(([, name = '', path = '']) => ({
    name,
    path: normalize(join(dirname(file), path)),
  }))
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
