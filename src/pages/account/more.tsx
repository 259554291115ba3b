/** Button that loads the next page of a list. */
import { Button } from '../components/button.tsx';
import { useTexts } from '../components/texts.tsx';
import type { Pages } from './use-pages.ts';

export function More({ pages }: { pages: Pages<unknown> }) {
  const text = useTexts();
  if (!pages.hasMore) return null;
  return (
    <Button
      look="small"
      busyText={pages.isLoadingMore && text('account.moreLoading')}
      onClick={() => void pages.loadMore()}
    >
      {text('account.more')}
    </Button>
  );
}
