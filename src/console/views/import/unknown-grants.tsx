/** Roles, scopes and groups that a file names and the application does not have, before it is sent. */
import { addresses } from '../../address.ts';
import { Action } from '../../components/action.tsx';
import { counted } from '../../components/format.ts';
import { HELD_KINDS, useAccess } from '../grants/access.ts';
import { GRANT_WORDS } from '../grants/kinds.ts';
import type { NamedGrants } from './candidates.ts';
import { Finding } from './finding.tsx';

interface UnknownGrantsProps {
  readonly applicationId: string;
  readonly named: NamedGrants;
}

export function UnknownGrants({ applicationId, named }: UnknownGrantsProps) {
  const { data: access, reload } = useAccess(applicationId);
  if (!access) return null;
  const unknown = HELD_KINDS.map(({ kind, list, title }) => {
    const known = new Set(access[kind].map(({ slug }) => slug));
    return { list, title, slugs: [...named[kind]].filter(([slug]) => !known.has(slug)) };
  }).filter(({ slugs }) => slugs.length > 0);
  if (unknown.length === 0) return null;
  const amounts = unknown.map(({ list, slugs }) => counted(slugs.length, GRANT_WORDS[list].one));
  const isOne = unknown.length === 1 && unknown[0]?.slugs.length === 1;
  return (
    <Finding
      id="unknown-grants"
      title={`${amounts.join(', ')} in the file ${isOne ? 'does' : 'do'} not exist`}
      lead="The rows are imported without them. Create them first, or import the file again afterwards."
      items={unknown.flatMap(({ list, slugs }) =>
        slugs.map(([slug, rows]) => `${GRANT_WORDS[list].one} ${slug}: ${counted(rows, 'row')}`),
      )}
    >
      <div class="finding-actions">
        {unknown.map(({ list, title }) => (
          <a key={list} href={`/console${addresses.application(applicationId, list)}`} target="_blank" rel="noreferrer">
            Open {title.toLowerCase()} in a new tab
          </a>
        ))}
        <Action id="check-grants" needs="nothing" onClick={reload}>
          Check again
        </Action>
      </div>
    </Finding>
  );
}
