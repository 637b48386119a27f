import type { CDPSession, Page } from 'playwright-core'

/** A node of the tree that the browser gives to screen readers. */
export interface SpokenNode {
  nodeId: string
  parentId?: string
  childIds?: string[]
  /** True for a node that is not read. */
  ignored: boolean
  role?: { value: string }
  name?: { value: string }
  properties?: { name: string; value: { value: unknown } }[]
}

/** The tree that the browser gives to screen readers. */
export class SpokenTree {
  readonly #all: readonly SpokenNode[]
  readonly #byId: ReadonlyMap<string, SpokenNode>

  constructor(all: readonly SpokenNode[]) {
    this.#all = all
    this.#byId = new Map(all.map((node) => [node.nodeId, node]))
  }

  static async read(page: Page): Promise<SpokenTree> {
    const session: CDPSession = await page.context().newCDPSession(page)
    const { nodes } = (await session.send('Accessibility.getFullAXTree')) as { nodes: SpokenNode[] }
    await session.detach()
    return new SpokenTree(nodes)
  }

  /** The nodes that are read, in the order of the page; the browser lists them by their depth. */
  get nodes(): SpokenNode[] {
    const [root] = this.#all
    return root ? [root, ...this.below(root)].filter(({ ignored }) => !ignored) : []
  }

  /** The nodes around one, the innermost first. */
  above({ parentId = '' }: SpokenNode): SpokenNode[] {
    const parent = this.#byId.get(parentId)
    return parent ? [parent, ...this.above(parent)] : []
  }

  /** The nodes within one, in the order of the page. */
  below({ childIds = [] }: SpokenNode): SpokenNode[] {
    return childIds.flatMap((id) => {
      const child = this.#byId.get(id)
      return child ? [child, ...this.below(child)] : []
    })
  }
}

export const nameOf = ({ name }: SpokenNode): string => name?.value.trim() ?? ''

export const isA =
  (...roles: string[]) =>
  ({ role }: SpokenNode): boolean =>
    roles.includes(role?.value ?? '')

export const propertyOf = ({ properties = [] }: SpokenNode, name: string): unknown =>
  properties.find((one) => one.name === name)?.value.value
