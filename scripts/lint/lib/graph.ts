import type { Graph } from './import-graph.ts'

const NONE = new Set<string>()

/** Visits what can be reached from `file` and is not in `seen`, calling `onLeave` for each file after its targets. */
function visit(
  graph: Graph,
  file: string,
  seen: Set<string>,
  onLeave: (file: string) => void,
): void {
  if (seen.has(file)) return
  seen.add(file)
  for (const target of graph.get(file) ?? NONE) visit(graph, target, seen, onLeave)
  onLeave(file)
}

/** Graph with all edges turned round. */
function reversed(graph: Graph): Graph {
  const result = new Map([...graph.keys()].map((file) => [file, new Set<string>()]))
  for (const [file, targets] of graph) for (const target of targets) result.get(target)?.add(file)
  return result
}

/** Strongly connected components with more than one file (Kosaraju and Sharir), each sorted. */
export function cyclesOf(graph: Graph): string[][] {
  const order: string[] = []
  const seen = new Set<string>()
  for (const file of graph.keys()) visit(graph, file, seen, (left) => order.push(left))
  const importers = reversed(graph)
  const assigned = new Set<string>()
  return order
    .reverse()
    .map((file) => {
      const component: string[] = []
      visit(importers, file, assigned, (left) => component.push(left))
      return component.sort()
    })
    .filter(({ length }) => length > 1)
}

/**
 * Number of import levels: files of the longest path in a part of the graph. Files of one cycle
 * count as one.
 */
export function levelsOf(graph: Graph, isPart: (file: string) => boolean): number {
  const nodeOf = new Map<string, string[]>()
  for (const cycle of cyclesOf(graph)) for (const file of cycle) nodeOf.set(file, cycle)
  const levels = new Map<string, number>()
  const levelOf = (file: string): number => {
    const members = nodeOf.get(file) ?? [file]
    const [key = file] = members
    const known = levels.get(key)
    if (known !== undefined) return known
    const below = members
      .flatMap((member) => [...(graph.get(member) ?? [])])
      .filter((target) => isPart(target) && !members.includes(target))
    const level = 1 + Math.max(0, ...below.map(levelOf))
    levels.set(key, level)
    return level
  }
  return Math.max(0, ...[...graph.keys()].filter(isPart).map(levelOf))
}
