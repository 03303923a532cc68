"""Every encoder against a slow formulation of itself, and what must hold for all five."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

pytest.importorskip("torch", reason="the extra `models` is not installed")
pytest.importorskip("transformers", reason="the extra `models` is not installed")

import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from torch import nn

from spider_compose.models.transformer import Relation, RelationalAttention, relative_positions
from spider_compose.sql.tree import Node, Tree
from spider_compose.tokenization.collator import SQLToTextCollator

NAMES = ["bilstm", "abs", "rel", "treelstm", "rgt"]
Make = Callable[..., Any]

# A node is a leaf (its label) or a list of children.
shapes = st.recursive(
    st.sampled_from(["a", "7", "'x y'"]), lambda inner: st.lists(inner, min_size=1, max_size=4), max_leaves=15
).filter(lambda shape: isinstance(shape, list))


def tree_of(shape: list[Any]) -> Tree:
    nodes: list[Node] = []

    def add(part: Any, parent: int) -> None:
        position = len(nodes)
        if isinstance(part, str):
            nodes.append(Node(part, "token", parent))
            return
        nodes.append(Node("root", "root", parent) if parent < 0 else Node("function", "unit", parent))
        for child in part:
            add(child, position)

    add(shape, -1)
    return Tree(tuple(nodes))


def tree_batch(tokenizer: Any, trees: list[Tree]) -> dict[str, Any]:
    batch: dict[str, Any] = SQLToTextCollator(tokenizer, "tree")(
        [tokenizer._tree(tree, None) for tree in trees]
    )
    return batch


@pytest.mark.parametrize("input_feeding", [True, False])
@pytest.mark.parametrize("name", NAMES)
def test_padding_and_neighbours_change_nothing(
    name: str, input_feeding: bool, make_model: Make, make_batch: Make
) -> None:
    """A row's outputs alone, in a batch, and with padding on every axis."""
    model = make_model(name, input_feeding=input_feeding)
    together = make_batch(model, slice(0, 8))
    logits = model(**together).logits
    for row in range(8):
        alone = make_batch(model, [row])
        own = model(**alone).logits[0]
        assert torch.allclose(own, logits[row, : len(own)], atol=1e-4)
    padded = {}
    for key, tensor in together.items():
        axes = (0, 3, 0, 3) if key in ("structure_relations", "leaf_ancestors") else (0, 3)
        axes = (0, 0, 0, 3) if key == "structure_spans" else axes
        padded[key] = nn.functional.pad(tensor, axes, value=-100 if key == "labels" else 0)
    assert torch.allclose(model(**padded).logits[:, : logits.shape[1]], logits, atol=1e-4)
    assert torch.allclose(model(**padded).loss, model(**together).loss, atol=1e-5)


@pytest.mark.parametrize("input_feeding", [True, False])
@pytest.mark.parametrize("name", NAMES)
def test_gradients_reach_every_parameter(
    name: str, input_feeding: bool, make_model: Make, make_batch: Make
) -> None:
    model = make_model(name, input_feeding=input_feeding).train()
    model(**make_batch(model)).loss.backward()
    without = [
        key for key, value in model.named_parameters() if value.grad is None or not value.grad.abs().max()
    ]
    assert without == []


@given(trees=st.lists(shapes.map(tree_of), min_size=1, max_size=4), name=st.sampled_from(["treelstm", "rgt"]))
@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_random_trees(trees: list[Tree], name: str, make_model: Make, tokenizer: Any) -> None:
    """Any forest is encoded to finite states, each tree as if it were alone."""
    model = make_model(name)
    together = model.encoder(**tree_batch(tokenizer, trees))
    for row, tree in enumerate(trees):
        alone = model.encoder(**tree_batch(tokenizer, [tree]))
        assert torch.isfinite(alone.last_hidden_state).all()
        assert torch.allclose(together.initial_hidden[row], alone.initial_hidden[0], atol=1e-4)
        own = together.last_hidden_state[row][together.attention_mask[row].bool()]
        assert torch.allclose(own, alone.last_hidden_state[0], atol=1e-4)


@given(tree=shapes.map(tree_of))
@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_forest_equals_one_node_at_a_time(tree: Tree, make_model: Make, tokenizer: Any) -> None:
    """The equations of Tai et al. (2015), section 3.1, node by node."""
    encoder = make_model("treelstm").encoder
    batch = tree_batch(tokenizer, [tree])
    fields = {key: value[0] for key, value in batch.items()}
    size = encoder.cell.hidden_size

    def node(inputs: torch.Tensor, children: list[tuple[torch.Tensor, torch.Tensor]]) -> Any:
        into, out, update, forget = encoder.cell.input(inputs).split(size)
        total = sum((hidden for hidden, _ in children), torch.zeros(size))
        more = encoder.cell.from_children(total).split(size)
        cell = torch.sigmoid(into + more[0]) * torch.tanh(update + more[2])
        for hidden, below in children:
            cell = cell + torch.sigmoid(forget + encoder.cell.child_forget(hidden)) * below
        return torch.sigmoid(out + more[1]) * torch.tanh(cell), cell

    leaves = [
        node(encoder.embed_tokens(piece) + encoder.embed_types(kind), [])
        for piece, kind in zip(fields["input_ids"], fields["leaf_types"], strict=True)
    ]
    number = len(fields["structure_ids"])
    states: list[Any] = [None] * number
    for at in reversed(range(number)):  # children stand behind their parents
        below = [leaves[leaf] for leaf, parent in enumerate(fields["leaf_parents"]) if parent == at]
        below += [states[other] for other, parent in enumerate(fields["structure_parents"]) if parent == at]
        inputs = encoder.embed_structures(fields["structure_ids"][at]) + encoder.embed_types(
            fields["structure_types"][at]
        )
        states[at] = node(inputs, below)
    expected = torch.stack([hidden for hidden, _ in [*leaves, *states]])
    found = encoder(**batch)
    assert torch.allclose(found.last_hidden_state[0], expected, atol=1e-5)
    assert torch.allclose(found.initial_hidden[0], states[0][0], atol=1e-5)
    assert torch.allclose(found.initial_cell[0], states[0][1], atol=1e-5)


def dense_attention(
    layer: RelationalAttention,
    states: torch.Tensor,
    mask: torch.Tensor,
    keys: torch.Tensor,
    values: torch.Tensor,
) -> torch.Tensor:
    """Shaw et al. (2018), equations 3 and 4, with a vector of the head size per pair."""
    batch_size, length, width = states.shape
    projected = layer.queries_keys_values(states).view(batch_size, length, 3, layer.heads, -1)
    query, key, value = projected.permute(2, 0, 3, 1, 4)
    scores = torch.einsum("bhid,bhijd->bhij", query, key[:, :, None] + keys[:, None])
    scores = scores / (width // layer.heads) ** 0.5
    weights = scores.masked_fill(~mask, -1e30).softmax(-1)
    output = torch.einsum("bhij,bhijd->bhid", weights, value[:, :, None] + values[:, None])
    return layer.output(output.transpose(1, 2).reshape(batch_size, length, width))


def test_rel_equals_explicit_embeddings(make_model: Make, make_batch: Make) -> None:
    """Every layer of REL, with the embedding of each pair's distance written out."""
    model = make_model("rel")
    batch = make_batch(model, slice(0, 6))
    encoder = model.encoder
    length = batch["input_ids"].shape[1]
    distance = torch.tensor([[max(-4, min(4, j - i)) + 4 for j in range(length)] for i in range(length)])
    keys, values = encoder.relation_keys(distance)[None], encoder.relation_values(distance)[None]
    mask = batch["attention_mask"][:, None, None].bool()
    states = encoder.projection(encoder.embed_tokens(batch["input_ids"]))
    for layer in encoder.layers:
        states = states + dense_attention(layer.attention, layer.attention_norm(states), mask, keys, values)
        states = states + layer.feed_forward(layer.feed_forward_norm(states))
    found = encoder(batch["input_ids"], batch["attention_mask"], batch["copy_mask"]).last_hidden_state
    assert torch.allclose(found[mask[:, 0, 0]], encoder.norm(states)[mask[:, 0, 0]], atol=1e-5)


def test_rgt_block_equals_the_papers_formulation(make_model: Make, make_batch: Make) -> None:
    """One block, with a pair's relations concatenated and projected as the paper writes it."""
    model = make_model("rgt", num_hidden_layers=1)
    batch = make_batch(model, slice(0, 6))
    encoder, block = model.encoder, model.encoder.layers[0]
    leaves = encoder.projection(
        torch.cat(
            [encoder.embed_tokens(batch["input_ids"]), encoder.embed_leaf_types(batch["leaf_types"])], -1
        )
    )
    structures = encoder.structure_projection(
        torch.cat(
            [
                encoder.embed_structures(batch["structure_ids"]),
                encoder.embed_structure_types(batch["structure_types"]),
            ],
            -1,
        )
    )
    depth, database = batch["structure_relations"].long() // 11, batch["structure_relations"].long() % 11
    paired = block.structure_relations
    joint = paired.joint(
        torch.cat([encoder.depth_relations(depth), encoder.database_relations(database)], -1)
    )
    mask = batch["structure_mask"][:, None, None].bool()
    layer = block.structure_layer
    structures = structures + dense_attention(
        layer.attention, layer.attention_norm(structures), mask, paired.keys(joint), paired.values(joint)
    )
    structures = structures + layer.feed_forward(layer.feed_forward_norm(structures))

    paired = block.leaf_relations
    rows = torch.arange(len(leaves))[:, None, None]
    ancestors = structures[rows, batch["leaf_ancestors"].long()]
    position = encoder.position_relations(relative_positions(leaves.shape[1], 4, leaves.device))
    joint = paired.joint(torch.cat([position.expand(len(leaves), -1, -1, -1), ancestors], -1))
    mask = batch["attention_mask"][:, None, None].bool()
    layer = block.leaf_layer
    leaves = leaves + dense_attention(
        layer.attention, layer.attention_norm(leaves), mask, paired.keys(joint), paired.values(joint)
    )
    leaves = leaves + layer.feed_forward(layer.feed_forward_norm(leaves))

    found = encoder(**{key: value for key, value in batch.items() if key != "labels"})
    own = batch["attention_mask"].bool()
    assert torch.allclose(found.last_hidden_state[own], encoder.norm(leaves)[own], atol=1e-5)

    # Up-flow, one node at a time over its own leaves.
    flow = block.up_flow
    for row in range(len(leaves)):
        for at in range(int(batch["structure_mask"][row].sum())):
            start, end = batch["structure_spans"][row, at]
            query = flow.queries(structures[row, at]).view(flow.heads, -1)
            key, value = (
                flow.keys_values(leaves[row, start:end])
                .view(end - start, 2, flow.heads, -1)
                .permute(1, 2, 0, 3)
            )
            weights = (torch.einsum("hd,hjd->hj", query, key) / query.shape[-1] ** 0.5).softmax(-1)
            taken = torch.einsum("hj,hjd->hd", weights, value).flatten()
            expected = encoder.structure_norm(flow.norm(structures[row, at] + flow.output(taken)))
            assert torch.allclose(found.structure_hidden_state[row, at], expected, atol=1e-5)


def test_relations_of_one_pair() -> None:
    """Gather and sum per relation against a double loop over pairs."""
    queries, weights = torch.randn(2, 3, 5, 4), torch.rand(2, 3, 5, 5)
    index = torch.randint(0, 7, (2, 5, 5))
    keys, values = torch.randn(7, 4), torch.randn(7, 4)
    relation = Relation(index, keys, values)
    scores, outputs = torch.zeros(2, 3, 5, 5), torch.zeros(2, 3, 5, 4)
    for row in range(2):
        for i in range(5):
            for j in range(5):
                scores[row, :, i, j] = queries[row, :, i] @ keys[index[row, i, j]]
                outputs[row, :, i] += weights[row, :, i, j, None] * values[index[row, i, j]]
    assert torch.allclose(relation.scores(queries), scores, atol=1e-5)
    assert torch.allclose(relation.outputs(weights), outputs, atol=1e-5)


def test_bilstm_adds_directions(make_model: Make, make_batch: Make) -> None:
    """Not neighbouring features: the sum of two LSTMs, one of which reads from the right."""
    model = make_model("bilstm")
    batch = make_batch(model, [3])
    inputs = model.encoder.embed_tokens(batch["input_ids"])
    right, (right_last, _) = model.encoder.rightward[0](inputs)
    left, (left_last, _) = model.encoder.leftward[0](inputs.flip(1))
    found = model.encoder(batch["input_ids"], batch["attention_mask"], batch["copy_mask"])
    assert torch.allclose(found.last_hidden_state, right + left.flip(1), atol=1e-5)
    assert torch.allclose(found.initial_hidden, (right_last + left_last)[0], atol=1e-5)


@pytest.mark.parametrize("name", ["abs", "rel", "rgt"])
def test_gradient_checkpointing(name: str, make_model: Make, make_batch: Make) -> None:
    """The same loss and gradients, with layers recomputed."""
    model = make_model(name, dropout=0.0).train()
    batch = make_batch(model, slice(0, 4))
    gradients = []
    for checkpointing in (False, True):
        if checkpointing:
            model.activation_checkpointing_enable()
            assert model.is_activation_checkpointing
        model.zero_grad()
        model(**batch).loss.backward()
        gradients.append({key: value.grad.clone() for key, value in model.named_parameters()})
    assert all(torch.allclose(gradients[0][key], gradients[1][key], atol=1e-6) for key in gradients[0])


@pytest.mark.parametrize("name", ["bilstm", "treelstm"])
def test_no_gradient_checkpointing_without_layers(name: str, make_model: Make) -> None:
    with pytest.raises(ValueError, match="checkpointing"):
        make_model(name).activation_checkpointing_enable()


@pytest.mark.parametrize("input_feeding", [True, False])
@pytest.mark.parametrize("name", NAMES)
def test_bfloat16_autocast(name: str, input_feeding: bool, make_model: Make, make_batch: Make) -> None:
    """Close to single precision, forward and backward."""
    model = make_model(name, input_feeding=input_feeding)
    batch = make_batch(model, slice(0, 4))
    expected = model(**batch).loss
    with torch.autocast("cpu", torch.bfloat16):
        found = model(**batch).loss
    assert torch.isfinite(found) and torch.allclose(found.float(), expected, rtol=0.05)
    found.backward()
    assert all(torch.isfinite(value.grad).all() for value in model.parameters() if value.grad is not None)


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_compiled(name: str, make_model: Make, make_batch: Make) -> None:
    """The same loss and gradients through torch.compile, traced but without a C++ compiler."""
    model = make_model(name, dropout=0.0).train()
    batch = make_batch(model, slice(0, 4))
    expected = model(**batch).loss
    expected.backward()
    gradients = {key: value.grad.clone() for key, value in model.named_parameters()}
    model.zero_grad()
    torch._dynamo.reset()
    found = torch.compile(model, backend="aot_eager")(**batch).loss
    found.backward()
    assert torch.allclose(found, expected, atol=1e-5)
    for key, value in model.named_parameters():
        assert torch.allclose(value.grad, gradients[key], atol=1e-4), key
