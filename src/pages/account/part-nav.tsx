/** Navigation among the parts of the account: a column, or on phones one row that scrolls sideways. */
import { AppWindow, Download, KeyRound, MapPin, MonitorSmartphone, UserRound } from 'lucide';
import type { IconNode } from 'lucide';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { Icon } from '../components/icon.tsx';
import { useTexts } from '../components/texts.tsx';
import type { AccountPart } from './parts.ts';
import { addressOf } from './use-part.ts';

const ICONS: Readonly<Record<AccountPart, IconNode>> = {
  profile: UserRound,
  addresses: MapPin,
  'sign-in': KeyRound,
  devices: MonitorSmartphone,
  applications: AppWindow,
  data: Download,
};

interface PartNavProps {
  readonly parts: readonly AccountPart[];
  readonly part: AccountPart;
  onOpen(part: AccountPart): void;
}

export function PartNav({ parts, part, onOpen }: PartNavProps) {
  const text = useTexts();
  const row = useRef<HTMLElement>(null);
  useLayoutEffect(() => {
    const element = row.current;
    if (!element) return;
    const show = () => {
      showCurrent(element);
      markEdges(element);
    };
    show();
    // Again when the screen is turned.
    const sizes = new ResizeObserver(show);
    sizes.observe(element);
    return () => sizes.disconnect();
  }, [part]);
  return (
    <nav ref={row} aria-label={text('account.title')} onScroll={(event) => markEdges(event.currentTarget)}>
      {parts.map((name) => (
        <a
          key={name}
          href={addressOf(name)}
          aria-current={name === part ? 'page' : undefined}
          onClick={(event) => {
            if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
            event.preventDefault();
            onOpen(name);
          }}
        >
          <Icon of={ICONS[name]} /> <span>{text(`account.part.${name}`)}</span>
        </a>
      ))}
    </nav>
  );
}

/** Centres the current part; the row is its offset parent. */
function showCurrent(row: HTMLElement): void {
  const current = row.querySelector<HTMLElement>('[aria-current]');
  if (current) row.scrollLeft = current.offsetLeft - (row.clientWidth - current.offsetWidth) / 2;
}

/** Marks the ends at which parts are out of view. */
function markEdges(row: HTMLElement): void {
  const hidden = row.scrollWidth - row.clientWidth;
  row.toggleAttribute('data-more-before', row.scrollLeft > 1);
  row.toggleAttribute('data-more-after', row.scrollLeft < hidden - 1);
}
