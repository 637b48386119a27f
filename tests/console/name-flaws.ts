import { isA, nameOf, propertyOf, type SpokenNode, type SpokenTree } from './spoken-tree.ts'

/** Words that say what a control does, and not with what. */
const BARE =
  /^(?:open|close|show|show all|show more|clear|copy|edit|change|delete|remove|revoke|end|cancel|approve|reject|fork|enable|disable|more|here)$/i
const isField = isA('textbox', 'searchbox', 'combobox', 'listbox', 'spinbutton', 'checkbox')
/** Controls that act on the object of their row; a link is named after the place where it leads. */
const acts = isA('button', 'checkbox', 'meter', 'textbox', 'combobox')
/** Parts within which two fields may have the same name. */
const isPart = isA('form', 'region', 'group', 'dialog')

/** Finds names in the content of a page that several things have, or that leave open what a control acts on. */
export function nameFlaws(tree: SpokenTree): string[] {
  const content = tree.nodes.filter((node) => tree.above(node).some(isA('main')))
  const buttons = content.filter(isA('button'))
  return [
    ...content
      .filter(
        (node) => isA('button', 'link', 'DisclosureTriangle')(node) && BARE.test(nameOf(node)),
      )
      .map((node) => `does not say what it acts on: ${nameOf(node)}`),
    // A button of an alert is read with it.
    ...repeated(buttons.filter((node) => !tree.above(node).some(isA('alert')))),
    ...repeated(content.filter(isA('heading', 'DisclosureTriangle'))),
    ...repeated(content.filter(isField), (node) => tree.above(node).find(isPart)?.nodeId),
    ...linkFlaws(content.filter(isA('link'))),
    ...content.filter(acts).flatMap((node) => rowFlaws(node, tree)),
  ]
}

/** Names that several nodes of the same role have within the same part. */
function repeated(
  nodes: readonly SpokenNode[],
  partOf: (node: SpokenNode) => string | undefined = () => undefined,
): string[] {
  const counts = new Map<string, number>()
  for (const node of nodes) {
    const key = JSON.stringify([node.role?.value, nameOf(node), partOf(node)])
    counts.set(key, (counts.get(key) ?? 0) + 1)
  }
  return [...counts]
    .filter(([, count]) => count > 1)
    .map(([key, count]) => `${count} times: ${key}`)
}

/** Links of the same name that lead to different places. */
function linkFlaws(links: readonly SpokenNode[]): string[] {
  const places = new Map<string, Set<unknown>>()
  for (const link of links) {
    const known = places.get(nameOf(link)) ?? new Set()
    places.set(nameOf(link), known.add(propertyOf(link, 'url')))
  }
  return [...places]
    .filter(([, all]) => all.size > 1)
    .map(([name, all]) => `link to ${all.size} places: ${name}`)
}

/** A control in a row of a table names the row by its head, or by a part of that. */
function rowFlaws(control: SpokenNode, tree: SpokenTree): string[] {
  const above = tree.above(control)
  const row = above.find(isA('row'))
  if (!row || above.some(isA('rowheader', 'columnheader'))) return []
  const head = tree.below(row).find(isA('rowheader'))
  if (!head) return [`row without a head: ${nameOf(row)}`]
  const names = [head, ...tree.below(head)].map(nameOf).filter((name) => name !== '')
  if (names.some((name) => nameOf(control).includes(name))) return []
  return [`${control.role?.value} that does not name its row: ${nameOf(control)}`]
}
