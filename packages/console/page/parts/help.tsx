import { useEffect, useRef } from "preact/hooks";
import { views } from "../views.ts";

export function Help({ onClose }: { readonly onClose: () => void }) {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => dialog.current?.showModal(), []);
  return (
    <dialog ref={dialog} onClose={onClose} aria-labelledby="help-title">
      <h2 id="help-title">Keys</h2>
      <dl class="facts">
        <dt>
          <kbd>/</kbd>
        </dt>
        <dd>searches</dd>
        <dt>
          <kbd>?</kbd>
        </dt>
        <dd>shows this</dd>
        {views.map(({ letter, name, at }) => (
          <>
            <dt key={at}>
              <kbd>g</kbd> <kbd>{letter}</kbd>
            </dt>
            <dd>{name}</dd>
          </>
        ))}
      </dl>
      <form method="dialog">
        <button type="submit">Close</button>
      </form>
    </dialog>
  );
}
