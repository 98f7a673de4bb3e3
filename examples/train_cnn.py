"""Train a residual network of ResNet-18 shape on scikit-learn's handwritten digits."""

from __future__ import annotations

import torch
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from torch import nn
from torch.nn import functional
from torch.utils.data import DataLoader, TensorDataset

from common import RunLog, argument_parser, autocast, nudge

BATCH = 64


class BasicBlock(nn.Module):
    """Two 3x3 convolutions with a shortcut: (N, C, H, W) -> (N, channels, H/stride, W/stride)."""

    def __init__(self, inputs: int, channels: int, stride: int) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(inputs, channels, 3, stride, padding=1, bias=False)
        self.norm1 = nn.BatchNorm2d(channels)
        self.conv2 = nn.Conv2d(channels, channels, 3, padding=1, bias=False)
        self.norm2 = nn.BatchNorm2d(channels)
        self.shortcut: nn.Module = nn.Identity()
        if stride != 1 or inputs != channels:
            self.shortcut = nn.Sequential(
                nn.Conv2d(inputs, channels, 1, stride, bias=False), nn.BatchNorm2d(channels)
            )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = functional.relu(self.norm1(self.conv1(x)))
        y = self.norm2(self.conv2(y))
        return functional.relu(y + self.shortcut(x))


class ResNet18(nn.Module):
    """ResNet-18's 2-2-2-2 blocks; the stem has stride 1 because the digits have 8x8 pixels.

    ``width`` is the number of channels of the first stage (64 in the original).
    """

    def __init__(self, width: int, dropout: float, classes: int = 10) -> None:
        super().__init__()
        layers: list[nn.Module] = [
            nn.Conv2d(1, width, 3, padding=1, bias=False),
            nn.BatchNorm2d(width),
            nn.ReLU(),
            nn.MaxPool2d(3, stride=1, padding=1),
        ]
        inputs = width
        for stage in range(4):
            channels = width << stage
            layers.append(BasicBlock(inputs, channels, stride=1 if stage == 0 else 2))
            layers.append(BasicBlock(channels, channels, stride=1))
            inputs = channels
        self.features = nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten())
        self.classifier = nn.Sequential(nn.Dropout(dropout), nn.Linear(inputs, classes))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.classifier(self.features(x))


def load_data() -> tuple[TensorDataset, torch.Tensor, torch.Tensor]:
    """Return the training set, and images (N, 1, 8, 8) and labels (N,) of the test set."""
    digits = load_digits()
    images = torch.from_numpy(digits.images).float().unsqueeze(1) / 8 - 1
    labels = torch.from_numpy(digits.target)
    train, test = train_test_split(
        torch.arange(len(labels)), test_size=0.25, random_state=0, stratify=labels
    )
    return TensorDataset(images[train], labels[train]), images[test], labels[test]


def main() -> None:
    parser = argument_parser(__doc__)
    parser.add_argument("--epochs", type=int)
    parser.add_argument("--width", type=int)
    args = parser.parse_args()
    epochs = args.epochs or (2 if args.quick else 12)
    width = args.width or (16 if args.quick else 32)

    torch.manual_seed(args.seed)
    model = ResNet18(width, args.dropout).to(args.device)
    if args.nudge:
        nudge(model, args.seed)
    train_set, test_images, test_labels = load_data()
    order = torch.Generator().manual_seed(args.seed)
    loader = DataLoader(train_set, BATCH, shuffle=True, drop_last=True, generator=order)
    steps = epochs * len(loader)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.005, momentum=0.9, weight_decay=5e-4)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=0.005, total_steps=steps)

    log = RunLog(f"cnn {args.dtype} on {args.device}", args.device, steps)
    with log.progress():
        for _ in range(epochs):
            for images, labels in loader:
                with log.step() as losses:
                    optimizer.zero_grad()
                    with autocast(args.device, args.dtype):
                        logits = model(images.to(args.device))
                        loss = functional.cross_entropy(logits, labels.to(args.device))
                    loss.backward()
                    optimizer.step()
                    schedule.step()
                    losses.append(loss.detach())

    model.eval()
    with torch.no_grad(), autocast(args.device, args.dtype):
        guesses = model(test_images.to(args.device)).argmax(dim=1).cpu()
    log.finish((guesses == test_labels).float().mean().item(), args.metrics, vars(args))


if __name__ == "__main__":
    main()
