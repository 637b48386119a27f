/** Why a tool answers `{success: false, error}`. The message is the whole error, for people and agents. */
export class Refusal extends Error {
  override readonly name = 'Refusal'
}
