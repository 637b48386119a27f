import type { CDPSession, Page } from 'playwright-core'
import { pictureFlaws } from './page-flaws.ts'

/** A node of the tree that the browser gives to screen readers. */
interface SpokenNode {
  nodeId: string
  childIds?: string[]
  ignored: boolean
  role?: { value: string }
  name?: { value: string }
  properties?: { name: string; value: { value: unknown } }[]
}

/** Roles that mean nothing to a reader without a name. */
const NAMED = new Set([
  ...['button', 'link', 'textbox', 'searchbox', 'combobox', 'checkbox', 'radio', 'slider'],
  ...['spinbutton', 'listbox', 'option', 'dialog', 'region', 'img', 'table', 'navigation', 'main'],
  ...['form', 'meter', 'progressbar', 'heading', 'columnheader', 'rowheader', 'group', 'Iframe'],
])

/** Roles without a name that are no flaw: a closed disclosure has its summary, a row of options its legend. */
const UNNAMED_GROUP = 'group'

export const readSpoken = async (page: Page): Promise<SpokenNode[]> => {
  const session: CDPSession = await page.context().newCDPSession(page)
  const { nodes } = (await session.send('Accessibility.getFullAXTree')) as { nodes: SpokenNode[] }
  await session.detach()
  return inOrder(nodes).filter(({ ignored }) => !ignored)
}

/** The nodes in the order of the page; the browser lists them by their depth. */
function inOrder(nodes: readonly SpokenNode[]): SpokenNode[] {
  const byId = new Map(nodes.map((node) => [node.nodeId, node]))
  const below = (node: SpokenNode): SpokenNode[] => [
    node,
    ...(node.childIds ?? []).flatMap((id) => {
      const child = byId.get(id)
      return child ? below(child) : []
    }),
  ]
  return nodes[0] ? below(nodes[0]) : []
}

/** Finds what a screen reader cannot say of a page: controls without a name, and headings out of order. */
export async function spokenFlaws(page: Page): Promise<string[]> {
  const nodes = await readSpoken(page)
  return [
    ...nodes.filter(lacksName).map(({ role, nodeId }) => `no name: ${role?.value} ${nodeId}`),
    ...headingFlaws(nodes),
    ...(await pictureFlaws(page)),
  ]
}

const lacksName = ({ role, name }: SpokenNode): boolean =>
  role !== undefined && role.value !== UNNAMED_GROUP && NAMED.has(role.value) && !name?.value.trim()

function headingFlaws(nodes: readonly SpokenNode[]): string[] {
  const headings = nodes.filter(({ role }) => role?.value === 'heading')
  const levels = headings.map(({ properties = [], name }) => ({
    level: Number(properties.find((one) => one.name === 'level')?.value.value),
    name: name?.value,
  }))
  const flaws = levels.flatMap(({ level, name }, i) => {
    const before = levels[i - 1]?.level ?? 0
    return level > before + 1 ? [`heading of level ${level} after ${before}: ${name}`] : []
  })
  const titles = levels.filter(({ level }) => level === 1).length
  return titles === 1 ? flaws : [...flaws, `${titles} headings of level 1`]
}
