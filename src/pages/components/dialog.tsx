/** Modal dialog, based on the native element's modality, Escape and focus handling. */
import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { hyphenated } from '../../core/hyphenated.ts';

interface DialogProps {
  readonly id: string;
  readonly title: string;
  readonly children: ComponentChildren;
  onClose(): void;
}

/** Open while rendered. */
export function Dialog({ id, title, children, onClose }: DialogProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  useLayoutEffect(() => {
    const element = dialog.current;
    element?.showModal();
    // A dialog taller than the screen is scrollable, so it would take the focus itself.
    if (element && document.activeElement === element.firstElementChild)
      element.querySelector<HTMLElement>('input, select, button')?.focus();
    return () => element?.close();
  }, []);
  return (
    <dialog
      id={id}
      ref={dialog}
      aria-labelledby={`${id}-title`}
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
      onClick={(event) => {
        if (event.target === dialog.current) onClose();
      }}
    >
      <div class="dialog">
        <h2 id={`${id}-title`}>{hyphenated(title)}</h2>
        {children}
      </div>
    </dialog>
  );
}
