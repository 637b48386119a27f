import { dirname, join, normalize } from 'node:path/posix'

/** A path of the repository between backticks: with an extension, or a folder with its final slash. */
const QUOTED =
  /`((?:bench|deploy|docs|examples|packages|proto|scripts|sdk|services|tests)\/[\w./-]*(?:\.\w+|\/))`/g
/** Target of a link that is a path, without its anchor. */
const LINKED = /\]\((?!\w+:|#)([^)#\s]+)(?:#[^)]*)?\)/g

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
