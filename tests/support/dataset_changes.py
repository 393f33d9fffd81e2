"""Changes of datasets, as a laboratory publishes them."""

__all__ = ["happen"]


def happen(change, values):
    """Change the laboratory's values; return the change as it is published."""
    match change:
        case "set", key, numbers:
            values[key] = (False, list(numbers), {})
            return {"action": "setitem", "path": [], "key": key, "value": values[key]}
        case "append", key, number if key in values:
            values[key][1].append(number)
            return {"action": "append", "path": [key, 1], "x": number}
        case "assign", key, index, number if key in values and -len(values[key][1]) <= index < len(values[key][1]):
            values[key][1][index] = number
            return {"action": "setitem", "path": [key, 1], "key": index, "value": number}
        case "slice", key, number if key in values:
            values[key][1][::2] = [number] * len(values[key][1][::2])
            return {"action": "setitem", "path": [key, 1], "key": slice(None, None, 2), "value": [number]}
        case "delete", key if key in values:
            del values[key]
            return {"action": "delitem", "path": [], "key": key}
    return None
