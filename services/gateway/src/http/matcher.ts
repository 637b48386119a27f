import { invalid } from '@windlass/runtime/faults'
import type { Route } from '../route/route.ts'

interface Pattern {
  route: Route
  /** A literal segment, or undefined where a parameter stands. */
  literals: (string | undefined)[]
  names: string[]
}

export interface Match {
  route: Route
  /** As they stand in the path, decoded. */
  params: Record<string, string>
}

/** Finds a route by method and path: exactly, in its very case, without a slash too many. */
export class Matcher {
  readonly #patterns = new Map<string, Pattern[]>()

  constructor(routes: Iterable<Route>) {
    for (const route of routes) {
      const segments = route.path.split('/')
      const literals = segments.map((part) => (part.startsWith('{') ? undefined : part))
      const names = segments.map((part) => part.slice(1, -1))
      const key = keyOf(route.method.toUpperCase(), segments.length)
      this.#patterns.set(key, [...(this.#patterns.get(key) ?? []), { route, literals, names }])
    }
  }

  find(method: string, path: string): Match | undefined {
    const segments = path.split('/')
    const patterns = this.#patterns.get(keyOf(method, segments.length))
    for (const { route, literals, names } of patterns ?? []) {
      if (!literals.every((literal, i) => literal === undefined || literal === segments[i]))
        continue
      const params: Record<string, string> = {}
      for (let i = 0; i < segments.length; i++)
        if (literals[i] === undefined) params[names[i] ?? ''] = decode(segments[i] ?? '')
      return { route, params }
    }
    return undefined
  }
}

const keyOf = (method: string, segments: number) => `${method} ${segments}`

function decode(segment: string): string {
  if (!segment.includes('%')) return segment
  try {
    return decodeURIComponent(segment)
  } catch {
    throw invalid('Malformed path')
  }
}
