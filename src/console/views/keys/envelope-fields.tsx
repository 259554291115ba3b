/** Roles, scopes and groups assigned to a key. */
import { FieldError } from '../../../pages/components/field.tsx';
import { ChooseMany } from '../../components/choices.tsx';
import { FailureNote } from '../../components/failure-note.tsx';
import type { CustomProps } from '../../components/form-fields.tsx';
import { HELD_KINDS, type HeldKind, useAccess } from '../grants/access.ts';

export type Envelope = Readonly<Record<HeldKind, string[]>>;

export const NO_ENVELOPE: Envelope = { roles: [], scopes: [], memberships: [] };

interface EnvelopeFieldsProps extends CustomProps<Envelope> {
  readonly applicationId: string;
}

export function EnvelopeFields({ applicationId, value: envelope, errorOf, set }: EnvelopeFieldsProps) {
  const there = useAccess(applicationId);
  if (there.failure && !there.data) return <FailureNote failure={there.failure} onRetry={there.reload} />;
  if (!there.data) return <div class="skeleton" aria-busy="true" />;
  const found = there.data;
  const isEmpty = HELD_KINDS.every(({ kind }) => found[kind].length === 0);
  return (
    <details class="envelope">
      <summary>Roles, scopes and groups{chosenWords(envelope)}</summary>
      <p class="hint">
        What a backend reads when this key itself is verified, as for a person. They do not change what the key may do
        here.
      </p>
      {isEmpty && <p class="fine">This application has none yet.</p>}
      {HELD_KINDS.filter(({ kind }) => found[kind].length > 0).map(({ kind, title }) => (
        <div class="choices-long" key={kind}>
          <ChooseMany
            id={`key-${kind}`}
            label={title}
            choices={found[kind].map(({ slug, name }) => ({
              value: slug,
              label: <code>{slug}</code>,
              detail: name === slug ? undefined : name,
            }))}
            chosen={envelope[kind]}
            onChange={(chosen) => set({ ...envelope, [kind]: chosen })}
          />
          <FieldError id={`key-${kind}`} error={errorOf(kind)} />
        </div>
      ))}
    </details>
  );
}

function chosenWords({ roles, scopes, memberships }: Envelope): string {
  const chosen = roles.length + scopes.length + memberships.length;
  return chosen === 0 ? ' (none)' : ` (${chosen})`;
}
