import { Link } from 'wouter-preact';
import { addresses } from '../address.ts';
import { useConsole } from '../console-context.tsx';
import { PageHead } from './page-head.tsx';

export function NothingHere() {
  const { workspace } = useConsole();
  return (
    <>
      <PageHead
        title="There is nothing at this address"
        lead="It may have been removed, or belong to a workspace that you are not a member of."
      />
      <Link class="button plain" href={addresses.workspace(workspace.id, 'applications')}>
        <span>Applications of {workspace.name}</span>
      </Link>
    </>
  );
}
