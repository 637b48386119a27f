export class Sql {
  readonly strings: readonly string[]
  readonly values: readonly unknown[]

  constructor(strings: readonly string[], values: readonly unknown[]) {
    this.strings = strings
    this.values = values
  }
}

/** Every value becomes a parameter; an Sql inside an Sql is spliced in. There is no way to inject text. */
export const sql = (strings: TemplateStringsArray, ...values: unknown[]): Sql =>
  new Sql(strings, values)

export function compile(query: Sql): { text: string; values: unknown[] } {
  const values: unknown[] = []
  const render = ({ strings, values: parts }: Sql): string =>
    strings.reduce((text, chunk, i) => {
      const part = parts[i - 1]
      return text + (part instanceof Sql ? render(part) : `$${values.push(part)}`) + chunk
    })
  return { text: render(query), values }
}
