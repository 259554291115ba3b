/** The application whose sections the rail shows: the open one, or in views of the workspace the last one. */
import { useEffect } from 'preact/hooks';
import type { Schemas } from '../api.ts';

type Application = Schemas['Application'];

const LAST_APPLICATION = 'gatehouse.console.application';

/** Applications that the switcher offers. */
export const isListed = ({ isHidden }: Application): boolean => !isHidden;

/**
 * Remembers the open application in this browser.
 * @returns the application of the address, else the last one of the workspace, else its only one; null if there is none.
 */
export function useRailApplication(
  applications: readonly Application[],
  workspaceId: string,
  open: Application | null,
): Application | null {
  useEffect(() => {
    if (open) localStorage.setItem(LAST_APPLICATION, open.id);
  }, [open?.id]);
  if (open) return open;
  const listed = applications.filter((one) => one.workspaceId === workspaceId && isListed(one));
  const last = localStorage.getItem(LAST_APPLICATION);
  return listed.find(({ id }) => id === last) ?? onlyOne(listed);
}

export function onlyOne<Item>(items: readonly Item[]): Item | null {
  const [first, ...more] = items;
  return first !== undefined && more.length === 0 ? first : null;
}

/** Returns what the switcher says beside a name: nothing if people use the application. */
export function standingOf({ stage, archivedAt, deletedAt }: Application): string | null {
  if (deletedAt !== null) return 'deleted';
  if (archivedAt !== null) return 'archived';
  return stage === 'live' ? null : stage;
}
