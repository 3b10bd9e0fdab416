import { periodAgo } from "@income-events/cli/core/text.ts";
import type { ComponentChildren, VNode } from "preact";
import { useState } from "preact/hooks";
import type { Loaded } from "../api.ts";
import { localTime, utcTime, visible } from "../format.ts";
import { address } from "../route.ts";

type PanelProps = {
  readonly title: string;
  /** Why it can't be shown, or not as it is now. */
  readonly error?: string | undefined;
  readonly children?: ComponentChildren;
  readonly aside?: ComponentChildren;
  /** Loads it again. */
  readonly onRefresh?: () => void;
};

/** A part of a page that fails by itself: the others go on. */
export function Panel({ title, error, children, aside, onRefresh }: PanelProps) {
  return (
    <section class="panel" aria-label={title}>
      <div class="panel-head">
        <h2>{title}</h2>
        {aside}
        {onRefresh && (
          <button type="button" onClick={onRefresh}>
            Refresh
          </button>
        )}
      </div>
      {error !== undefined && <Problem text={error} />}
      {children}
    </section>
  );
}

export function Problem({ text }: { readonly text: string }) {
  return (
    <p class="problem" role="alert">
      {text}
    </p>
  );
}

/** The page of a queue's dead letters, by default with any reason. */
export function deadLettersPath(queue: string, reason = ""): string {
  return address("/dead-letters", { queue, reason });
}

type ListedProps<T> = {
  readonly of: Partial<Loaded<readonly T[]>>;
  /** Shown until the first answer. */
  readonly waiting?: string;
  readonly empty?: string;
  readonly children: (items: readonly T[]) => VNode;
};

/** A loaded list, or that it is still empty or loading; its panel shows the error. */
export function Listed<T>({ of: { data, error }, waiting, empty, children }: ListedProps<T>) {
  if (data === undefined) return error === undefined ? <p class="quiet">{waiting}</p> : null;
  return data.length === 0 ? <p class="empty">{empty}</p> : children(data);
}

/** A time in the reader's zone, with UTC as its title. */
export function Time({ at }: { readonly at: string | undefined }) {
  if (at === undefined) return <span>—</span>;
  return (
    <time dateTime={at} title={utcTime(at)}>
      {localTime(at)}
    </time>
  );
}

const isoTime = /(\d{4}-\d\d-\d\dT[\d:.]+Z)/;

/** A text of a command, with its times in the reader's zone. */
export function TextWithTimes({ text }: { readonly text: string }) {
  // `split` returns each match between the texts beside it.
  return (
    <>{text.split(isoTime).map((part, index) => (index % 2 === 1 ? <Time at={part} /> : visible(part)))}</>
  );
}

type PeriodProps = {
  /** The start of the minute, or of the hour, in which something happened. */
  readonly at: string | undefined;
  /** The text if nothing happened. */
  readonly none: string;
};

/** How long ago something happened that is measured by the minute or by the hour. */
export function Period({ at, none }: PeriodProps) {
  if (at === undefined) return <span>{none}</span>;
  return (
    <time dateTime={at} title={`since ${utcTime(at)}`}>
      {periodAgo(new Date(at), new Date())}
    </time>
  );
}

/** Copies a command that does the same as the page. */
export function Command({ line }: { readonly line: string }) {
  const [isCopied, setCopied] = useState(false);
  const copy = async () => {
    await navigator.clipboard.writeText(line);
    setCopied(true);
    setTimeout(() => setCopied(false), 1500);
  };
  return (
    <p class="command">
      <code>
        {line.split(" ").map((word, index) => (
          <>
            {index > 0 && " "}
            <span key={index}>{word}</span>
          </>
        ))}
      </code>
      <button type="button" class="plain" onClick={copy} aria-label={`Copy the command: ${line}`}>
        {isCopied ? "Copied" : "Copy"}
      </button>
    </p>
  );
}
