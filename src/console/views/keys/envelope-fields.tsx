/** What a key is given of an application's roles, scopes and groups. */
import type { Outcome, Page, Schemas } from '../../api.ts';
import { ChooseMany } from '../../components/choices.tsx';
import { FailureNote } from '../../components/failure-note.tsx';
import { useLoaded } from '../../data.ts';
import { type GrantKind, GRANT_WORDS, grantCalls } from '../grants/kinds.ts';

type Grant = Schemas['Grant'];

export interface Envelope {
  readonly roles: string[];
  readonly scopes: string[];
  readonly memberships: string[];
}

export const NO_ENVELOPE: Envelope = { roles: [], scopes: [], memberships: [] };

/** By what they are called in a key. */
const KINDS = [
  ['roles', 'roles'],
  ['scopes', 'scopes'],
  ['groups', 'memberships'],
] as const satisfies readonly (readonly [GrantKind, keyof Envelope])[];
const MAX_PAGES = 10;

interface EnvelopeFieldsProps {
  readonly applicationId: string;
  readonly envelope: Envelope;
  readonly errorOf: (path: string) => string | null;
  readonly onChange: (envelope: Envelope) => void;
}

export function EnvelopeFields({ applicationId, envelope, errorOf, onChange }: EnvelopeFieldsProps) {
  const there = useLoaded(() => loadAll(applicationId), [applicationId]);
  if (there.failure && !there.data) return <FailureNote failure={there.failure} onRetry={there.reload} />;
  if (!there.data) return <div class="skeleton" aria-busy="true" />;
  const found = there.data;
  const isEmpty = KINDS.every(([kind]) => found[kind].length === 0);
  return (
    <details class="envelope">
      <summary>Roles, scopes and groups{chosenWords(envelope)}</summary>
      <p class="hint">
        What a backend reads of this key where the key itself is verified, as it does of a person. They do not change
        what the key may do here.
      </p>
      {isEmpty && <p class="fine">This application has none yet.</p>}
      {KINDS.filter(([kind]) => found[kind].length > 0).map(([kind, path]) => (
        <div class="choices-long" key={kind}>
          <ChooseMany
            id={`key-${kind}`}
            label={GRANT_WORDS[kind].title}
            choices={found[kind].map(({ slug, name }) => ({
              value: slug,
              label: <code>{slug}</code>,
              detail: name === slug ? undefined : name,
            }))}
            chosen={envelope[path]}
            onChange={(chosen) => onChange({ ...envelope, [path]: chosen })}
          />
          <p class="field-error" role="alert">
            {errorOf(path)}
          </p>
        </div>
      ))}
    </details>
  );
}

function chosenWords({ roles, scopes, memberships }: Envelope): string {
  const chosen = roles.length + scopes.length + memberships.length;
  return chosen === 0 ? ' (none)' : ` (${chosen})`;
}

/** What exists, whole: it is chosen from. */
async function loadAll(applicationId: string): Promise<Outcome<Record<GrantKind, Grant[]>>> {
  const all: Record<GrantKind, Grant[]> = { roles: [], scopes: [], groups: [] };
  for (const [kind] of KINDS) {
    const { list } = grantCalls(kind, applicationId);
    let cursor: string | undefined;
    for (let pages = 0; pages < MAX_PAGES; pages += 1) {
      const page: Outcome<Page<Grant>> = await list(cursor);
      if (!page.ok) return page;
      all[kind].push(...page.data.items);
      if (page.data.nextCursor === null) break;
      cursor = page.data.nextCursor;
    }
  }
  return { ok: true, data: all };
}
