/** The database does not answer now; the call may be made again. */
export class StoreUnavailable extends Error {
  override readonly name = "StoreUnavailable";
}
