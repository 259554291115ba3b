/** A button that does something: busy while it does, out of reach with its reason where the member may not. */
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { Button } from '../../pages/components/button.tsx';
import { useToast } from '../../pages/components/toast.tsx';
import type { Outcome } from '../api.ts';
import { type Needs, useWhyNot } from '../rights.tsx';

interface ActionProps {
  readonly id?: string;
  readonly look?: 'primary' | 'plain' | 'small' | 'danger';
  readonly icon?: ComponentChildren;
  /** Who may: whoever can write, unless said otherwise. */
  readonly needs?: Needs;
  readonly isDisabled?: boolean;
  readonly onClick: () => unknown;
  readonly children: ComponentChildren;
}

export function Action({ look = 'small', needs = 'write', isDisabled = false, onClick, ...rest }: ActionProps) {
  const [isBusy, setIsBusy] = useState(false);
  const whyNot = useWhyNot(needs);

  async function act(): Promise<void> {
    if (isBusy) return;
    setIsBusy(true);
    try {
      await onClick();
    } finally {
      setIsBusy(false);
    }
  }

  return (
    <Button
      {...rest}
      look={look}
      title={whyNot}
      disabled={isDisabled || whyNot !== undefined}
      aria-busy={isBusy ? 'true' : undefined}
      onClick={() => void act()}
    />
  );
}

/**
 * Says what became of a change: the sentence where it was made, the server's reason where it was refused.
 *
 * @returns whether it was made.
 */
export function useReport(): <T>(outcome: Outcome<T>, done?: string) => outcome is Extract<Outcome<T>, { ok: true }> {
  const toast = useToast();
  return <T,>(outcome: Outcome<T>, done?: string): outcome is Extract<Outcome<T>, { ok: true }> => {
    if (!outcome.ok) toast(outcome.message, 'bad');
    else if (done !== undefined) toast(done);
    return outcome.ok;
  };
}
