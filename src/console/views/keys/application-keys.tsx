/** API keys of an application. */
import { useMemo } from 'preact/hooks';
import { addresses } from '../../address.ts';
import type { ApplicationViewProps } from '../../application-view.ts';
import type { KeyOwner } from './key-calls.ts';
import { Keys } from './keys.tsx';

export function ApplicationKeys({ application: { id } }: ApplicationViewProps) {
  const owner = useMemo<KeyOwner>(() => ({ kind: 'application', id }), [id]);
  return (
    <Keys
      owner={owner}
      title="API keys"
      lead="What your servers and tools call Gatehouse with. Each stands for itself, so that it can be limited, rotated and revoked alone."
      addText="Create API key"
      addressOf={(...rest) => addresses.application(id, 'keys', ...rest)}
      emptyTitle="No API keys yet"
      emptyLead="Your backend needs one to verify the sessions of people who have signed in. Read access is enough for that."
    />
  );
}
