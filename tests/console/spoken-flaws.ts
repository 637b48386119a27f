import type { Page } from 'playwright-core'
import { nameFlaws } from './name-flaws.ts'
import { pictureFlaws } from './page-flaws.ts'
import { isA, nameOf, propertyOf, type SpokenNode, SpokenTree } from './spoken-tree.ts'

/** Roles that mean nothing to a reader without a name; a closed disclosure is a group whose summary has one. */
const isNamed = isA(
  ...['button', 'link', 'textbox', 'searchbox', 'combobox', 'checkbox', 'radio', 'slider'],
  ...[
    'spinbutton',
    'listbox',
    'option',
    'dialog',
    'region',
    'image',
    'figure',
    'table',
    'navigation',
    'main',
  ],
  ...['form', 'meter', 'progressbar', 'heading', 'columnheader', 'rowheader', 'Iframe'],
)

/**
 * Finds what a screen reader cannot say of a page: controls without a name or with an unclear one, and headings out of
 * order.
 */
export async function spokenFlaws(page: Page): Promise<string[]> {
  const tree = await SpokenTree.read(page)
  const { nodes } = tree
  return [
    ...nodes
      .filter((node) => isNamed(node) && nameOf(node) === '')
      .map(({ role, nodeId }) => `no name: ${role?.value} ${nodeId}`),
    ...headingFlaws(nodes),
    ...nameFlaws(tree),
    ...(await pictureFlaws(page)),
  ]
}

function headingFlaws(nodes: readonly SpokenNode[]): string[] {
  const headings = nodes.filter(isA('heading'))
  const levels = headings.map((node) => Number(propertyOf(node, 'level')))
  const flaws = levels.flatMap((level, i) => {
    const before = levels[i - 1] ?? 0
    const name = headings[i]?.name?.value
    return level > before + 1 ? [`heading of level ${level} after ${before}: ${name}`] : []
  })
  const titles = levels.filter((level) => level === 1).length
  return titles === 1 ? flaws : [...flaws, `${titles} headings of level 1`]
}
