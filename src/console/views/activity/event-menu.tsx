/** Row menu of a record: filters by its parts, and why a sign-in was refused. */
import { useLocation } from 'wouter-preact';
import { Menu, MenuEntry } from '../../components/menu.tsx';
import type { AuthEvent } from './kinds.ts';
import { type Narrowing, narrowingsOf } from './narrowings.ts';
import { explanationOf, isExplained } from './refusal.ts';
import { sentenceInWords, whoInWords } from './sentences.ts';

interface EventMenuProps {
  readonly of: AuthEvent;
  readonly onNarrow: (narrowing: Narrowing) => void;
}

export function EventMenu({ of: event, onNarrow }: EventMenuProps) {
  const [, navigate] = useLocation();
  return (
    <Menu label={`Actions for ${whoInWords(event)}: ${sentenceInWords(event)}`}>
      {isExplained(event) && (
        <MenuEntry needs="nothing" onClick={async () => navigate(await explanationOf(event))}>
          Why was this person refused?
        </MenuEntry>
      )}
      {narrowingsOf(event).map((narrowing) => (
        <MenuEntry key={narrowing.filter} needs="nothing" onClick={() => onNarrow(narrowing)}>
          <bdi>{narrowing.label}</bdi>
        </MenuEntry>
      ))}
    </Menu>
  );
}
