const MAX_DIGITS = 400

/** The value of a number literal, or undefined for an imaginary one or one out of range. */
export function numberOf(literal: string): number | undefined {
  const text = literal.replaceAll('_', '').toLowerCase()
  if (text.length > MAX_DIGITS || /[jl]$/.test(text)) return undefined
  return finite(Number(/^0+$/.test(text) ? '0' : text))
}

const finite = (value: number) => (Number.isFinite(value) ? value : undefined)

/** Python's arithmetic where it agrees with ours, else undefined. */
export function calculate(operator: string, left: number, right: number): number | undefined {
  switch (operator) {
    case '+':
      return finite(left + right)
    case '-':
      return finite(left - right)
    case '*':
      return finite(left * right)
    case '/':
      return finite(left / right)
    case '//':
      return finite(Math.floor(left / right))
    case '%':
      return finite(left - right * Math.floor(left / right))
    case '**':
      return finite(left ** right)
    default:
      return undefined
  }
}
