import { Component, type ComponentChildren, createRef } from 'preact'

/** Rows of one part; a screen shows some 20. */
const PART_ROWS = 25
/** Below this every row is drawn, so that the browser's search finds all of them. */
const ALL_ROWS = 200
/** Pixels above and below the view within which parts are drawn. */
const MARGIN_PX = 600
/** Height of a row of a part that was never drawn. */
const ROW_PX = 38

/** Splits the rows of a long table; a short one is one part. */
export function partsOf<T>(rows: readonly T[]): readonly (readonly T[])[] {
  if (rows.length <= ALL_ROWS) return [rows]
  const count = Math.ceil(rows.length / PART_ROWS)
  return Array.from({ length: count }, (_, i) => rows.slice(i * PART_ROWS, (i + 1) * PART_ROWS))
}

/** True if rows are so many that those far from the view are not drawn. */
export const isLong = (rows: number): boolean => rows > ALL_ROWS

interface Props<T> {
  rows: readonly T[]
  /** Number of rows before those of the part. */
  offset: number
  columns: number
  /** True if a row differs from that of the last drawing for another reason than being another object. */
  hasChanged: (row: T) => boolean
  render: (row: T, index: number) => ComponentChildren
  /** False: drawn wherever it is. */
  isPartial: boolean
  /** True if one of its rows was in view when the table was left: it has to be drawn to be scrolled to. */
  isReturnedTo: boolean
}

/**
 * Part of a table's rows, which are drawn while they are near the view: a change of one row of a thousand
 * makes the browser lay out those that are drawn. Far from the view there is one row of the same height.
 */
export class TablePart<T> extends Component<Props<T>, { isNear: boolean }> {
  override state = { isNear: this.props.isReturnedTo || this.props.offset < 2 * PART_ROWS }
  readonly #element = createRef<HTMLTableSectionElement>()
  #observer: IntersectionObserver | undefined
  #height: number | undefined

  override componentDidMount(): void {
    const element = this.#element.current
    if (!element || !this.props.isPartial) return
    const options = { root: element.closest('main'), rootMargin: `${MARGIN_PX}px 0px` }
    this.#observer = new IntersectionObserver((entries) => this.#onMove(entries), options)
    this.#observer.observe(element)
  }

  override componentWillUnmount(): void {
    this.#observer?.disconnect()
  }

  #onMove(entries: readonly IntersectionObserverEntry[]): void {
    const { isIntersecting: isNear = false, boundingClientRect } = entries.at(-1) ?? {}
    // The focus would be lost with its row.
    if (!isNear && this.#element.current?.contains(document.activeElement)) return
    if (!isNear && this.state.isNear) this.#height = boundingClientRect?.height
    this.setState({ isNear })
  }

  override shouldComponentUpdate(next: Props<T>, { isNear }: { isNear: boolean }): boolean {
    const { rows, offset, columns } = this.props
    if (isNear !== this.state.isNear || rows.length !== next.rows.length) return true
    if (next.offset !== offset || next.columns !== columns) return true
    return (
      this.#isDrawn(isNear) && next.rows.some((row, i) => row !== rows[i] || next.hasChanged(row))
    )
  }

  #isDrawn = (isNear: boolean) => isNear || !this.props.isPartial

  override render() {
    const { rows, offset, columns, render } = this.props
    return (
      <tbody ref={this.#element}>
        {this.#isDrawn(this.state.isNear) ? (
          rows.map((row, i) => render(row, offset + i))
        ) : (
          <tr class="far">
            <td colSpan={columns} style={{ height: `${this.#height ?? rows.length * ROW_PX}px` }} />
          </tr>
        )}
      </tbody>
    )
  }
}
