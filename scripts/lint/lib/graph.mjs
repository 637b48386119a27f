/** @typedef {import('./import-graph.mjs').Graph} Graph */

const NONE = new Set()

/** Visits what can be reached from `file` and is not in `seen`, calling `onLeave` for each file after its targets. */
function visit(graph, file, seen, onLeave) {
  if (seen.has(file)) return
  seen.add(file)
  for (const target of graph.get(file) ?? NONE) visit(graph, target, seen, onLeave)
  onLeave(file)
}

/** Graph with all edges turned round. */
function reversed(graph) {
  const result = new Map([...graph.keys()].map((file) => [file, new Set()]))
  for (const [file, targets] of graph) for (const target of targets) result.get(target)?.add(file)
  return result
}

/**
 * Strongly connected components with more than one file (Kosaraju and Sharir), each sorted.
 *
 * @param {Graph} graph
 * @returns {string[][]}
 */
export function cyclesOf(graph) {
  const order = []
  const seen = new Set()
  for (const file of graph.keys()) visit(graph, file, seen, (left) => order.push(left))
  const importers = reversed(graph)
  const assigned = new Set()
  return order
    .reverse()
    .map((file) => {
      const component = []
      visit(importers, file, assigned, (left) => component.push(left))
      return component.sort()
    })
    .filter(({ length }) => length > 1)
}

/**
 * Number of import levels: files of the longest path in a part of the graph. Files of one cycle
 * count as one.
 *
 * @param {Graph} graph
 * @param {(file: string) => boolean} isPart
 */
export function levelsOf(graph, isPart) {
  const nodeOf = new Map()
  for (const cycle of cyclesOf(graph)) for (const file of cycle) nodeOf.set(file, cycle)
  const levels = new Map()
  const levelOf = (file) => {
    const members = nodeOf.get(file) ?? [file]
    const [key] = members
    if (levels.has(key)) return levels.get(key)
    const below = members
      .flatMap((member) => [...(graph.get(member) ?? [])])
      .filter((target) => isPart(target) && !members.includes(target))
    levels.set(key, 1 + Math.max(0, ...below.map(levelOf)))
    return levels.get(key)
  }
  return Math.max(0, ...[...graph.keys()].filter(isPart).map(levelOf))
}
