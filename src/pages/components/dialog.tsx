/** A question that has to be answered first: the element's own modality, Escape and focus. */
import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';

interface DialogProps {
  readonly id: string;
  readonly title: string;
  readonly children: ComponentChildren;
  onClose(): void;
}

/** Open for as long as it is rendered. */
export function Dialog({ id, title, children, onClose }: DialogProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  useLayoutEffect(() => {
    const element = dialog.current;
    element?.showModal();
    // One that is longer than the screen scrolls, and would take the focus itself.
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
        <h2 id={`${id}-title`}>{title}</h2>
        {children}
      </div>
    </dialog>
  );
}
