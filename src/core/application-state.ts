/** The states of an application that decide who may sign in. */

interface Closable {
  readonly archivedAt: number | null;
  readonly deletedAt: number | null;
}

export function isClosed({ archivedAt, deletedAt }: Closable): boolean {
  return archivedAt !== null || deletedAt !== null;
}

export function isInService(application: Closable & { readonly stage: string }): boolean {
  return application.stage !== 'draft' && !isClosed(application);
}
