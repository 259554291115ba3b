/** API keys of the workspace, which access several or all of its applications. */
import { useMemo } from 'preact/hooks';
import { addresses } from '../../address.ts';
import { useConsole } from '../../console-context.tsx';
import type { KeyOwner } from './key-calls.ts';
import { Keys } from './keys.tsx';

export function WorkspaceKeys() {
  const { id } = useConsole().workspace;
  const owner = useMemo<KeyOwner>(() => ({ kind: 'workspace', id }), [id]);
  return (
    <Keys
      owner={owner}
      title="Workspace keys"
      lead="Keys that reach every application of this workspace, or those you choose: for provisioning, agents and continuous integration."
      addText="Create workspace key"
      addressOf={(...rest) => addresses.workspace(id, 'keys', ...rest)}
      emptyTitle="No workspace keys yet"
      emptyLead="A backend of one application is better off with a key of that application. A workspace key is for tools that create applications, or look after several."
    />
  );
}
