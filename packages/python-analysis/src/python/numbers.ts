const MAX_DIGITS = 400

/**
 * Returns the value of a number literal; undefined for imaginary numbers and numbers out of range.
 */
export function numberOf(literal: string): number | undefined {
  const text = literal.replaceAll('_', '').toLowerCase()
  if (text.length > MAX_DIGITS || /[jl]$/.test(text)) return undefined
  return finite(Number(/^0+$/.test(text) ? '0' : text))
}

const finite = (value: number) => (Number.isFinite(value) ? value : undefined)

/** Applies an operator where Python and JavaScript agree; otherwise returns undefined. */
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
