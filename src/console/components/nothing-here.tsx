import { PageHead } from './page-head.tsx';

export function NothingHere() {
  return (
    <PageHead
      title="There is nothing at this address"
      lead="It may have been removed, or belong to a workspace that you are not a member of."
    />
  );
}
