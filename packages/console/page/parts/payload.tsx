import { printableJson } from "@income-events/cli/core/text.ts";
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { type Loaded, useLoaded } from "../api.ts";
import { address, type Params } from "../route.ts";
import { Action } from "./action.tsx";

type Masked<T> = Loaded<T> & { readonly isRevealed: boolean; readonly control: ComponentChildren };

/**
 * An answer with personal data masked, and a control that shows them: the audit trail records the look.
 * @param params undefined: nothing is loaded @param known the masked answer, if it was loaded before
 */
export function useMasked<T extends object>(path: string, params: Params | undefined, known?: T): Masked<T> {
  const at = params && address(path, params);
  const loaded = useLoaded<T>(known === undefined ? at : undefined);
  const [shown, setShown] = useState<{ readonly at: string | undefined; readonly data: T }>();
  const revealed = shown?.at === at ? shown?.data : undefined;
  const control =
    revealed === undefined ? (
      <Action<T>
        label="Show personal data"
        path={`${path}/reveal`}
        body={params}
        isLook
        onDone={(data) => setShown({ at, data })}
      />
    ) : (
      <p class="quiet">
        Shown, and recorded in the audit trail.{" "}
        <button type="button" onClick={() => setShown(undefined)}>
          Hide
        </button>
      </p>
    );
  return { ...loaded, data: revealed ?? known ?? loaded.data, isRevealed: revealed !== undefined, control };
}

/** JSON as text, never as markup, with all digits of its numbers. */
export function JsonText({ value, label }: { readonly value: unknown; readonly label: string }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: where it is wider than the screen, keys scroll it
    <section class="payload" tabIndex={0} aria-label={label}>
      <pre dir="ltr">{printableJson(value, 2)}</pre>
    </section>
  );
}
