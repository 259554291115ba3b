/** What the engine says where the database itself refuses a row. */

/** Whether an index refused it because somebody else has that value. */
export function isUniqueViolation(error: unknown): boolean {
  return (error as { code?: unknown }).code === 'SQLITE_CONSTRAINT_UNIQUE';
}
